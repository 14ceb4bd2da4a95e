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
__attribute__((optimize("O3"))) void each_of_all(const F& f, const T* x, U* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<U>(f(x[i]));
}

template <class T, class U, class F>
__attribute__((optimize("O3"))) void each_of_row(const F& f, const T* x, bool x_repeats, const T* y, bool y_repeats, U* out, std::int64_t n) {
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

/// Output 0 = f(x, y) with broadcasting; b is how their shapes combine.
template <class T, class U, class F>
void each_broadcast(Call& call, const In<T>& x, const In<T>& y, const Broadcast& b, const F& f) {
  U* out = call.alloc<U>(0, b.output);
  if (b.output.elements() == 0) return;
  const bool x_repeats = b.left_step.back() == 0, y_repeats = b.right_step.back() == 0;
  const T* left = x.data();
  const T* right = y.data();
  in_ranges(b.rows(), b.size.back(), [&](std::int64_t first, std::int64_t last) {
    b.for_each_row(first, last, [&](std::int64_t o, std::int64_t l, std::int64_t r) {
      each_of_row<T, U>(f, left + l, x_repeats, right + r, y_repeats, out + o, b.size.back());
    });
  });
}

template <class T, class U, class F>
void each_same_shape(Call& call, const In<T>& x, const In<T>& y, const F& f) {
  U* out = x.tensor.unique() ? call.alloc_over<U>(0, x.index, x.shape()) : call.alloc_over<U>(0, y.index, x.shape());
  const T *left = x.data(), *right = y.data();
  in_ranges(x.size(), 1, [&](std::int64_t first, std::int64_t last) {
    each_of_row<T, U>(f, left + first, false, right + first, false, out + first, last - first);
  });
}

template <class T, class U, class F>
Status each_pair(Call& call, const In<T>& x, const In<T>& y, const F& f) {
  if (x.shape() == y.shape()) {
    each_same_shape<T, U>(call, x, y, f);
    return absl::OkStatus();
  }
  auto b = Broadcast::of(x.shape(), y.shape());
  if (!b) return incompatible_shapes(x.tensor, y.tensor);
  each_broadcast<T, U>(call, x, y, *b, f);
  return absl::OkStatus();
}

template <class Out, class T>
using OutOr = std::conditional_t<std::is_void_v<Out>, T, Out>;

}  // namespace detail

/// y = f(x), element by element. The output's type is T, or `Out` where given.
template <class Out = void, class... Ts, class F>
void each1(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  ops.add(names, ts, [f]<class T>(Call& call, In<T> x) {
    using U = detail::OutOr<Out, T>;
    U* out = call.alloc_over<U>(0, x.index, x.shape());
    detail::in_ranges(x.size(), 1,
                      [&, in = x.data()](std::int64_t first, std::int64_t last) { detail::each_of_all(f, in + first, out + first, last - first); });
  });
}

/// z = f(x, y), element by element with broadcasting.
template <class Out = void, class... Ts, class F>
void each2(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  ops.add(names, ts, [f]<class T>(Call& call, In<T> x, In<T> y) -> Status { return detail::each_pair<T, detail::OutOr<Out, T>>(call, x, y, f); });
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

/// As each2 in the precision of `Computed`.
template <class... Ts, class F>
void each2_computed(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  each2(ops, names, ts, [f]<class T>(const T& x, const T& y) { return f(static_cast<Computed<T>>(x), static_cast<Computed<T>>(y)); });
}
/// As each1 in the precision of `Computed`.
template <class... Ts, class F>
void each1_computed(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  each1(ops, names, ts, [f]<class T>(const T& x) { return f(static_cast<Computed<T>>(x)); });
}

}  // namespace troupe
