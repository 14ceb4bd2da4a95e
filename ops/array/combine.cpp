// Slices of a tensor combined with new values.
#include <troupe/ops/array/combine.hpp>

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/math/wrap.hpp>

namespace troupe {
namespace {

template <class T, class F>
void each_slice(T* to, const std::vector<std::int64_t>& offsets, std::int64_t size, const T* updates, bool one_value, F f) {
  for (std::int64_t offset : offsets) {
    T* slice = to + offset;
    if (one_value) {
      for (std::int64_t i = 0; i < size; ++i) slice[i] = f(slice[i], *updates);
    } else {
      for (std::int64_t i = 0; i < size; ++i) slice[i] = f(slice[i], updates[i]);
      updates += size;
    }
  }
}

template <class T>
T quotient(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) return b == T{-1} ? wrap_neg(a) : static_cast<T>(a / b);
  else return static_cast<T>(a / b);
}

template <class T>
void combine(Combine how, Tensor& to, const std::vector<std::int64_t>& offsets, std::int64_t size, const Tensor& updates, bool one_value) {
  auto each = [&](auto f) { each_slice<T>(to.mutable_data<T>(), offsets, size, updates.data<T>(), one_value, f); };
  if (how == Combine::add) each([](const T& a, const T& b) { return wrap_add(a, b); });
  if (how == Combine::sub) each([](const T& a, const T& b) { return wrap_sub(a, b); });
  if (how == Combine::mul) each([](const T& a, const T& b) { return wrap_mul(a, b); });
  if (how == Combine::div) each([](const T& a, const T& b) { return quotient(a, b); });
  if constexpr (!is_complex<T>) {
    if (how == Combine::min) each([](const T& a, const T& b) { return b < a ? b : a; });
    if (how == Combine::max) each([](const T& a, const T& b) { return a < b ? b : a; });
  }
}

}  // namespace

void combine_slices(Combine how, Tensor& to, const std::vector<std::int64_t>& offsets, std::int64_t size, const Tensor& updates, bool one_value) {
  if (how == Combine::update) {
    by_storage(to.dtype(), [&]<class S>() {
      each_slice<S>(to.mutable_data<S>(), offsets, size, updates.data<S>(), one_value, [](const S&, const S& b) { return b; });
    });
  } else if (to.dtype() == DType::string) {
    each_slice<std::string>(to.mutable_data<std::string>(), offsets, size, updates.data<std::string>(), one_value,
                            [](const std::string& a, const std::string& b) { return a + b; });
  } else if (to.dtype() == DType::boolean) {
    // The sum and the difference of two truth values, as numbers.
    const bool add = how == Combine::add;
    each_slice<bool>(to.mutable_data<bool>(), offsets, size, updates.data<bool>(), one_value,
                     [add](bool a, bool b) { return add ? a || b : a != b; });
  } else {
    visit_dtype(numbers{}, to.dtype(), [&]<class T>() { combine<T>(how, to, offsets, size, updates, one_value); });
  }
}

bool has_zero(const Tensor& t) {
  bool found = false;
  visit_dtype(numbers{}, t.dtype(), [&]<class T>() {
    for (const T& x : t.values<T>()) found = found || x == T(0);
  });
  return found;
}

}  // namespace troupe
