// Element-wise kernels from one expression: unary and, with broadcasting, binary.
#pragma once

#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>

#include <Eigen/Core>

namespace troupe {

/// Lifts a function of scalars to whole arrays, for what Eigen has no array form of.
template <class F>
struct Each {
  F f;
  template <class A>
  auto operator()(const A& x) const {
    return x.unaryExpr(f);
  }
  template <class A, class B>
  auto operator()(const A& x, const B& y) const {
    return x.binaryExpr(y, f);
  }
};
template <class F>
Each<F> each(F f) {
  return {std::move(f)};
}

namespace detail {

template <class T>
using Row = Eigen::Array<T, Eigen::Dynamic, 1>;

template <class T, class U, class F>
void apply_row(const F& f, const T* x, bool x_repeats, const T* y, bool y_repeats, U* out, std::int64_t n) {
  ArrayMap<U> o(out, n);
  if (n == 1) {
    o = f(ConstArrayMap<T>(x, 1), ConstArrayMap<T>(y, 1)).template cast<U>();
  } else if (x_repeats) {
    o = f(Row<T>::Constant(n, *x), ConstArrayMap<T>(y, n)).template cast<U>();
  } else if (y_repeats) {
    o = f(ConstArrayMap<T>(x, n), Row<T>::Constant(n, *y)).template cast<U>();
  } else {
    o = f(ConstArrayMap<T>(x, n), ConstArrayMap<T>(y, n)).template cast<U>();
  }
}

Status incompatible_shapes(const Tensor& x, const Tensor& y);

/// Output 0 = f(input 0, input 1) with broadcasting; f takes and returns array expressions.
template <class T, class U, class F>
Status broadcast_into(Call& call, const In<T>& x, const In<T>& y, const F& f) {
  if (x.shape() == y.shape()) {
    U* out = x.tensor.unique() ? call.alloc_over<U>(0, x.index, x.shape()) : call.alloc_over<U>(0, y.index, x.shape());
    if (x.size() > 0) apply_row<T, U>(f, x.data(), false, y.data(), false, out, x.size());
    return absl::OkStatus();
  }
  auto b = Broadcast::of(x.shape(), y.shape());
  if (!b) return incompatible_shapes(x.tensor, y.tensor);
  U* out = call.alloc<U>(0, b->output);
  if (b->output.elements() == 0) return absl::OkStatus();
  const bool x_repeats = b->left_step.back() == 0, y_repeats = b->right_step.back() == 0;
  const std::int64_t inner = b->size.back();
  b->for_each_row(
      [&](std::int64_t o, std::int64_t l, std::int64_t r) { apply_row<T, U>(f, x.data() + l, x_repeats, y.data() + r, y_repeats, out + o, inner); });
  return absl::OkStatus();
}

}  // namespace detail

/// y = f(x): `map1(ops, "Sqrt", floats{}, [](const auto& x) { return x.sqrt(); })`. The output's type is T, or `Out` where given.
template <class Out = void, class... Ts, class F>
void map1(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  ops.add(names, ts, [f]<class T>(Call& call, In<T> x) {
    using U = std::conditional_t<std::is_void_v<Out>, T, Out>;
    U* out = call.alloc_over<U>(0, x.index, x.shape());
    ArrayMap<U>(out, x.size()) = f(x.array()).template cast<U>();
  });
}
template <class Out = void, class... Ts, class F>
void map1(Registry& ops, const char* name, types<Ts...> ts, F f) {
  map1<Out>(ops, Registry::Names{name}, ts, std::move(f));
}

/// z = f(x, y) with broadcasting: `map2(ops, "AddV2", numbers{}, [](const auto& x, const auto& y) { return x + y; })`.
template <class Out = void, class... Ts, class F>
void map2(Registry& ops, Registry::Names names, types<Ts...> ts, F f) {
  ops.add(names, ts, [f]<class T>(Call& call, In<T> x, In<T> y) -> Status {
    using U = std::conditional_t<std::is_void_v<Out>, T, Out>;
    return detail::broadcast_into<T, U>(call, x, y, f);
  });
}
template <class Out = void, class... Ts, class F>
void map2(Registry& ops, const char* name, types<Ts...> ts, F f) {
  map2<Out>(ops, Registry::Names{name}, ts, std::move(f));
}

}  // namespace troupe
