// Gradients of activations.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/vector_functions.hpp>
#include <troupe/ops/nn/selu.hpp>
#include <troupe/ops/nn/wide.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace troupe {

namespace {

/// One or zero, without a branch: data is seldom as predicted.
template <class W>
W one_where(bool condition) {
  if constexpr (std::is_same_v<W, float>)
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.0f) & (0u - static_cast<std::uint32_t>(condition)));
  else if constexpr (std::is_same_v<W, double>)
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) & (std::uint64_t{0} - static_cast<std::uint64_t>(condition)));
  else return W(condition);
}

/// The output is apart from the inputs or in the very place of one: ivdep.
template <class W, class T, class F>
void combine_range(const T* g, const T* x, T* out, std::int64_t first, std::int64_t last, const F& f) {
#pragma GCC ivdep
  for (std::int64_t i = first; i < last; ++i) out[i] = static_cast<T>(f(static_cast<W>(g[i]), static_cast<W>(x[i])));
}

template <class T>
Status check_shapes(Call& call, const In<T>& gradient, const In<T>& x) {
  if (gradient.shape() == x.shape()) return absl::OkStatus();
  return invalid("Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != input 1: {}", call.node().name, call.node().op,
                 gradient.shape(), x.shape());
}
template <class T>
T* alloc_over_either(Call& call, const In<T>& gradient, const In<T>& x) {
  return gradient.tensor.unique() ? call.alloc_over<T>(0, gradient.index, x.shape()) : call.alloc_over<T>(0, x.index, x.shape());
}

/// out = f(gradient, x) for two inputs of one shape.
template <class W, class T, class F>
Status combine(Call& call, const In<T>& gradient, const In<T>& x, const F& f) {
  TRY(check_shapes(call, gradient, x));
  const T *g = gradient.data(), *v = x.data();
  T* out = alloc_over_either(call, gradient, x);
  in_parallel(x.size(), 1.0, [&](std::int64_t first, std::int64_t last) { combine_range<W>(g, v, out, first, last, f); });
  return absl::OkStatus();
}

/// gradient * the logistic function of x: a quotient, as TensorFlow's.
template <class T>
Status softplus_gradient(Call& call, const In<T>& gradient, const In<T>& x) {
  using W = Wide<T>;
  TRY(check_shapes(call, gradient, x));
  const T *g = gradient.data(), *v = x.data();
  T* out = alloc_over_either(call, gradient, x);
  constexpr std::int64_t many = 256;
  in_parallel(x.size(), 2.0, [&](std::int64_t first, std::int64_t last) {
    W e[many];
    for (std::int64_t i = first; i < last; i += many) {
      const std::int64_t n = std::min(many, last - i);
      for (std::int64_t k = 0; k < n; ++k) e[k] = -static_cast<W>(v[i + k]);
      vector_functions<W>().exp(e, e, n);
#pragma GCC ivdep
      for (std::int64_t k = 0; k < n; ++k) out[i + k] = static_cast<T>(static_cast<W>(g[i + k]) / (e[k] + W(1)));
    }
  });
  return absl::OkStatus();
}

template <class... Ts, class F>
void gradient(Registry& ops, const char* name, types<Ts...> ts, F f) {
  ops.add(name, ts, [f]<class T>(Call& call, In<T> g, In<T> x) { return combine<Wide<T>>(call, g, x, f); });
}
/// The same without a wider type: each operation rounds, as TensorFlow's do.
template <class... Ts, class F>
void own_gradient(Registry& ops, const char* name, types<Ts...> ts, F f) {
  ops.add(name, ts, [f]<class T>(Call& call, In<T> g, In<T> x) { return combine<T>(call, g, x, f); });
}

}  // namespace

void add_activation_gradients(Registry& ops) {
  // A product and not a choice: a gradient that is not finite must show.
  gradient(ops, "ReluGrad", reals{}, []<class W>(W g, W x) { return g * one_where<W>(x > W(0)); });
  gradient(ops, "Relu6Grad", reals{}, []<class W>(W g, W x) { return g * one_where<W>((x > W(0)) & (x < W(6))); });
  own_gradient(ops, "EluGrad", floats{}, []<class T>(T g, T y) {
    const T below = (y + T(1)) * g;
    return y < T(0) ? below : g;
  });
  own_gradient(ops, "SeluGrad", floats{}, []<class T>(T g, T y) {
    const T below = g * (y + T(selu_scale_alpha)), above = g * T(selu_scale);
    return y < T(0) ? below : above;
  });
  ops.add("SoftplusGrad", floats{}, []<class T>(Call& call, In<T> g, In<T> x) { return softplus_gradient(call, g, x); });
  own_gradient(ops, "SoftsignGrad", floats{}, []<class T>(T g, T x) {
    const T d = (x < T(0) ? -x : x) + T(1);
    return g / T(d * d);
  });
  ops.add("LeakyReluGrad", floats{}, []<class T>(Call& call, In<T> g, In<T> x, Attr<"alpha", float> alpha) {
    const auto slope = static_cast<Wide<T>>(static_cast<T>(*alpha));
    return combine<Wide<T>>(call, g, x, [slope](auto gradient, auto value) {
      const auto below = gradient * slope;
      return value > 0 ? gradient : below;
    });
  });
}

}  // namespace troupe
