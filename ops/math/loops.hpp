// Element-wise kernels from a function of scalars, as plain loops: cheap to compile for many types.
#pragma once

#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/elementwise.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/parallel.hpp>

#include <atomic>
#include <functional>
#include <type_traits>

namespace troupe {

/// half and bfloat16 are computed as float, everything else as itself.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

namespace detail {

/// Calls part(first, last) for ranges that together are [0, count), on several threads where that may pay.
template <class Part>
void in_ranges(std::int64_t count, std::int64_t elements_each, const Part& part) {
  // Many more elements than this are worth two threads; with fewer not even the question is asked.
  constexpr std::int64_t many = 100'000;
  if (count * elements_each < many) part(std::int64_t{0}, count);
  else in_parallel(count, 0.5 * static_cast<double>(elements_each), Cut::fine, std::cref(part));
}

// Loops over elements are compiled to vector instructions. An output is apart from the inputs or in the very place of one: ivdep.

template <class T, class U, class F>
[[gnu::always_inline]] inline void loop_of_one(const F& f, const T* x, U* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<U>(f(x[i]));
}

template <class T, class U, class F>
[[gnu::always_inline]] inline void loop_of_two(const F& f, const T* x, bool x_repeats, const T* y, bool y_repeats, U* out, std::int64_t n) {
  if (x_repeats && n > 1) {
    const T a = *x;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<U>(f(a, y[i]));
  } else if (y_repeats && n > 1) {
    const T b = *y;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<U>(f(x[i], b));
  } else {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<U>(f(x[i], y[i]));
  }
}

template <int inputs, class T, class U, class F>
[[gnu::always_inline]] inline void row(const void* f, const void* x, bool x_repeats, const void* y, bool y_repeats, void* out, std::int64_t n) {
  const F& of = *static_cast<const F*>(f);
  if constexpr (inputs == 1) loop_of_one<T, U, F>(of, static_cast<const T*>(x), static_cast<U*>(out), n);
  else loop_of_two<T, U, F>(of, static_cast<const T*>(x), x_repeats, static_cast<const T*>(y), y_repeats, static_cast<U*>(out), n);
}
template <int inputs, class T, class U, class F>
__attribute__((optimize("O3"))) void plain_row(const void* f, const void* x, bool x_repeats, const void* y, bool y_repeats, void* out,
                                               std::int64_t n) {
  row<inputs, T, U, F>(f, x, x_repeats, y, y_repeats, out, n);
}
/// For processors that have AVX2.
template <int inputs, class T, class U, class F>
__attribute__((optimize("O3"), target("avx2"))) void wide_row(const void* f, const void* x, bool x_repeats, const void* y, bool y_repeats, void* out,
                                                              std::int64_t n) {
  row<inputs, T, U, F>(f, x, x_repeats, y, y_repeats, out, n);
}

/// Wider vectors are for what the processor computes with: sixteen-bit floats, objects and what may fail are not.
template <class T, class U, class F>
inline constexpr bool widens = std::is_arithmetic_v<T>&& std::is_arithmetic_v<U> && sizeof(T) >= 4 && std::is_empty_v<F>;

/// The loop over f for this processor.
template <int inputs, class T, class U, class F>
RowFunction row_function() {
  if constexpr (widens<T, U, F>)
    if (__builtin_cpu_supports("avx2")) return &wide_row<inputs, T, U, F>;
  return &plain_row<inputs, T, U, F>;
}

template <class T, class U, class F>
void each_of_all(const F& f, const T* x, U* out, std::int64_t n) {
  row_function<1, T, U, F>()(&f, x, false, nullptr, true, out, n);
}

template <class T, class U, class F>
void each_of_row(const F& f, const T* x, bool x_repeats, const T* y, bool y_repeats, U* out, std::int64_t n) {
  row_function<2, T, U, F>()(&f, x, x_repeats, y, y_repeats, out, n);
}

/// What others may do with f: nothing, where it holds values of a call, or where elements are objects.
template <int inputs, class T, class U, class F>
RowForm row_form() {
  if constexpr (std::is_empty_v<F> && std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<U>) {
    static const F f{};
    return {row_function<inputs, T, U, F>(), &f, inputs, dtype_of<T>::value, dtype_of<U>::value};
  } else {
    return {};
  }
}

/// Output 0 = row(x, y) with broadcasting; b is how their shapes combine.
template <class T, class U>
void each_broadcast(Call& call, const In<T>& x, const In<T>& y, const Broadcast& b, RowFunction row, const void* f) {
  U* out = call.alloc<U>(0, b.output);
  if (b.output.elements() == 0) return;
  const bool x_repeats = b.left_step.back() == 0, y_repeats = b.right_step.back() == 0;
  const T* left = x.data();
  const T* right = y.data();
  in_ranges(b.rows(), b.size.back(), [&](std::int64_t first, std::int64_t last) {
    b.for_each_row(first, last, [&](std::int64_t o, std::int64_t l, std::int64_t r) {
      row(f, left + l, x_repeats, right + r, y_repeats, out + o, b.size.back());
    });
  });
}

template <class T, class U>
void each_same_shape(Call& call, const In<T>& x, const In<T>& y, RowFunction row, const void* f) {
  U* out = x.tensor.unique() ? call.alloc_over<U>(0, x.index, x.shape()) : call.alloc_over<U>(0, y.index, x.shape());
  const T *left = x.data(), *right = y.data();
  in_ranges(x.size(), 1,
            [&](std::int64_t first, std::int64_t last) { row(f, left + first, false, right + first, false, out + first, last - first); });
}

template <class T, class U>
Status each_pair_of(Call& call, const In<T>& x, const In<T>& y, RowFunction row, const void* f) {
  if (x.shape() == y.shape()) {
    each_same_shape<T, U>(call, x, y, row, f);
    return absl::OkStatus();
  }
  auto b = Broadcast::of(x.shape(), y.shape());
  if (!b) return incompatible_shapes(x.tensor, y.tensor);
  each_broadcast<T, U>(call, x, y, *b, row, f);
  return absl::OkStatus();
}

template <class T, class U, class F>
Status each_pair(Call& call, const In<T>& x, const In<T>& y, const F& f) {
  return each_pair_of<T, U>(call, x, y, row_function<2, T, U, F>(), &f);
}

/// Adds a kernel for one type together with its row form.
template <class T, class K>
void add_with_row(Registry& ops, Registry::Names names, const RowForm& row, K kernel) {
  for (const char* op : names)
    ops.factory(op, {{"T", dtype_of<T>::value}}, [kernel, row](Binding& binding) -> StatusOr<Kernel> {
      TRY_ASSIGN(Kernel bound, Signed<decltype(&K::operator())>::bind(kernel, binding, Place::anywhere));
      bound.row = row;
      return bound;
    });
}

template <class Out, class T>
using OutOr = std::conditional_t<std::is_void_v<Out>, T, Out>;

}  // namespace detail

/// y = f(x), element by element. The output's type is T, or `Out` where given.
template <class Out = void, class... Ts, class F>
void each1(Registry& ops, Registry::Names names, types<Ts...>, F f) {
  const auto add = [&]<class T>(std::type_identity<T>) {
    using U = detail::OutOr<Out, T>;
    detail::add_with_row<T>(ops, names, detail::row_form<1, T, U, F>(), [f](Call& call, In<T> x) {
      U* out = call.alloc_over<U>(0, x.index, x.shape());
      detail::in_ranges(x.size(), 1,
                        [&, in = x.data()](std::int64_t first, std::int64_t last) { detail::each_of_all(f, in + first, out + first, last - first); });
    });
  };
  (add(std::type_identity<Ts>{}), ...);
}

/// z = f(x, y), element by element with broadcasting.
template <class Out = void, class... Ts, class F>
void each2(Registry& ops, Registry::Names names, types<Ts...>, F f) {
  const auto add = [&]<class T>(std::type_identity<T>) {
    using U = detail::OutOr<Out, T>;
    detail::add_with_row<T>(ops, names, detail::row_form<2, T, U, F>(),
                            [f](Call& call, In<T> x, In<T> y) -> Status { return detail::each_pair<T, U>(call, x, y, f); });
  };
  (add(std::type_identity<Ts>{}), ...);
}

/// As each2, for a function f(x, y, bool& failed): the kernel fails with `error` where it set that.
template <class... Ts, class F>
void each2_or(Registry& ops, Registry::Names names, types<Ts...> ts, Status error, F f) {
  ops.add(names, ts, [f, error]<class T>(Call& call, In<T> x, In<T> y) -> Status {
    std::atomic<bool> failed = false;
    TRY((detail::each_pair<T, T>(call, x, y, [&](const T& a, const T& b) {
      bool failed_here = false;
      const T result = f(a, b, failed_here);
      if (failed_here) failed.store(true, std::memory_order_relaxed);
      return result;
    })));
    return failed ? error : absl::OkStatus();
  });
}

namespace detail {

/// F in the precision of `Computed`; holds nothing where F holds nothing.
template <class F>
struct Computing : F {
  template <class T>
  auto operator()(const T& x) const {
    return F::operator()(static_cast<Computed<T>>(x));
  }
  template <class T>
  auto operator()(const T& x, const T& y) const {
    return F::operator()(static_cast<Computed<T>>(x), static_cast<Computed<T>>(y));
  }
};

}  // namespace detail

/// As each2 in the precision of `Computed`.
template <class... Ts, class F>
void each2_computed(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  each2(ops, names, ts, detail::Computing<F>{std::move(f)});
}
/// As each1 in the precision of `Computed`.
template <class... Ts, class F>
void each1_computed(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  each1(ops, names, ts, detail::Computing<F>{std::move(f)});
}

}  // namespace troupe
