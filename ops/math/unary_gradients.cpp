// Gradients of element-wise functions, from the output (or input) of the function and the gradient that comes back.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <complex>

namespace troupe {
namespace {

template <class T>
T conjugate(const T& x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

/// Pairs elements without broadcasting; the shape is that of the first input.
template <class T, class F>
Status gradient(Call& call, const In<T>& y, const In<T>& dy, const F& f) {
  if (y.size() != dy.size()) return invalid("The two arguments to a cwise op must have same number of elements, got {} and {}", y.size(), dy.size());
  T* out = call.alloc_over<T>(0, y.index, y.shape());
  const T *of = y.data(), *back = dy.data();
  detail::in_ranges(y.size(), 1, [&](std::int64_t first, std::int64_t last) {
    detail::each_of_row<T, T>(f, of + first, false, back + first, false, out + first, last - first);
  });
  return absl::OkStatus();
}

template <class F>
void each_gradient(Registry& ops, Registry::Names names, F f) {
  const auto add = [&]<class... Ts>(types<Ts...>) {
    const auto add_one = [&]<class T>(std::type_identity<T>) {
      RowForm row = detail::row_form<2, T, T, F>();
      row.broadcasts = false;
      detail::add_with_row<T>(ops, names, row, [f](Call& call, In<T> y, In<T> dy) { return gradient<T>(call, y, dy, f); });
    };
    (add_one(std::type_identity<Ts>{}), ...);
  };
  add(joined<floats, complexes>{});
}

}  // namespace

void add_unary_gradients(Registry& ops) {
  each_gradient(ops, {"SigmoidGrad"}, []<class T>(const T& y, const T& dy) { return dy * y * (T(1) - y); });
  each_gradient(ops, {"TanhGrad"}, []<class T>(const T& y, const T& dy) { return dy * (T(1) - y * y); });
  each_gradient(ops, {"InvGrad", "ReciprocalGrad"}, []<class T>(const T& y, const T& dy) {
    const T c = conjugate(y);
    const T product = dy * -c * c;
    return dy == T(0) ? T(0) : product;
  });
  each_gradient(ops, {"SqrtGrad"}, []<class T>(const T& y, const T& dy) {
    const T product = dy * (T(0.5) / conjugate(y));
    return dy == T(0) ? T(0) : product;
  });
  each_gradient(ops, {"RsqrtGrad"}, []<class T>(const T& y, const T& dy) {
    const T c = conjugate(y);
    const T product = T(-0.5) * (dy * c) * (c * c);
    return dy == T(0) ? T(0) : product;
  });
}

}  // namespace troupe
