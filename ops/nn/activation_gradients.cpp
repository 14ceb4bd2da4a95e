// Gradients of activations.
#include <troupe/ops/kernel.hpp>
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

// So many at once are computed apart from memory, which may be that of an input: compilers make vectors of them.
constexpr std::int64_t block = 16;

template <class W, class T, class F>
void combine_range(const T* g, const T* x, T* out, std::int64_t first, std::int64_t last, const F& f) {
  std::int64_t i = first;
  for (; i + block <= last; i += block) {
    T results[block];
    for (std::int64_t k = 0; k < block; ++k) results[k] = static_cast<T>(f(static_cast<W>(g[i + k]), static_cast<W>(x[i + k])));
    std::copy_n(results, block, out + i);
  }
  for (; i < last; ++i) out[i] = static_cast<T>(f(static_cast<W>(g[i]), static_cast<W>(x[i])));
}

/// out = f(gradient, x) for two inputs of one shape.
template <class W, class T, class F>
Status combine(Call& call, const In<T>& gradient, const In<T>& x, const F& f) {
  if (gradient.shape() != x.shape())
    return invalid("Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != input 1: {}", call.node().name,
                   call.node().op, gradient.shape(), x.shape());
  const T *g = gradient.data(), *v = x.data();
  T* out = gradient.tensor.unique() ? call.alloc_over<T>(0, gradient.index, x.shape()) : call.alloc_over<T>(0, x.index, x.shape());
  in_parallel(x.size(), 1.0, [&](std::int64_t first, std::int64_t last) { combine_range<W>(g, v, out, first, last, f); });
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
  own_gradient(ops, "EluGrad", floats{}, []<class T>(T g, T y) { return y < T(0) ? (y + T(1)) * g : g; });
  own_gradient(ops, "SeluGrad", floats{}, []<class T>(T g, T y) { return y < T(0) ? g * (y + T(selu_scale_alpha)) : g * T(selu_scale); });
  gradient(ops, "SoftplusGrad", floats{}, []<class W>(W g, W x) { return g / (std::exp(-x) + W(1)); });
  own_gradient(ops, "SoftsignGrad", floats{}, []<class T>(T g, T x) {
    const T d = (x < T(0) ? -x : x) + T(1);
    return g / T(d * d);
  });
  ops.add("LeakyReluGrad", floats{}, []<class T>(Call& call, In<T> g, In<T> x, Attr<"alpha", float> alpha) {
    const auto slope = static_cast<Wide<T>>(static_cast<T>(*alpha));
    return combine<Wide<T>>(call, g, x, [slope](auto gradient, auto value) { return value > 0 ? gradient : gradient * slope; });
  });
}

}  // namespace troupe
