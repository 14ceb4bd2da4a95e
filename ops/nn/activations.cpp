// Activations.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/vector_loops.hpp>
#include <troupe/ops/nn/selu.hpp>
#include <troupe/ops/nn/wide.hpp>

#include <cmath>
#include <limits>

namespace troupe {

namespace {

/// y = f(x, exp(x)), value by value; each operation rounds, as TensorFlow's do.
template <class F>
void each_with_exponential(Registry& ops, const char* name, F f) {
  ops.add(name, floats{}, [f]<class T>(Call& call, In<T> x) {
    T* out = call.alloc_over<T>(0, x.index, x.shape());
    detail::with_function(x.data(), out, x.size(), vector_functions<Wide<T>>().exp,
                          [&](const T* from, const Wide<T>* exponential, T* to, std::int64_t n) {
#pragma GCC ivdep
                            for (std::int64_t i = 0; i < n; ++i) to[i] = f(from[i], static_cast<T>(exponential[i]));
                          });
  });
}

/// Softplus is linear above -threshold and exponential below it, to the precision of T.
template <class T>
Wide<T> softplus_threshold() {
  return std::log(static_cast<Wide<T>>(Eigen::NumTraits<T>::epsilon())) + 2;
}

/// Of a block of values and their exponentials.
template <class T, class W>
void softplus(const T* x, const W* exponential, T* out, std::int64_t n, W threshold) {
  W curve[256];
  if constexpr (std::is_same_v<W, float>) vector_functions<float>().log1p(exponential, curve, n);
  else std::transform(exponential, exponential + n, curve, [](W e) { return std::log1p(e); });
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const W v = static_cast<W>(x[i]), low = v < threshold ? exponential[i] : curve[i];
    out[i] = static_cast<T>(v > -threshold ? v : low);
  }
}

}  // namespace

void add_activations(Registry& ops) {
  // Written so that NaN stays NaN.
  each1_computed(ops, {"Relu"}, reals{}, []<class W>(W x) { return x < W(0) ? W(0) : x; });
  each1_computed(ops, {"Relu6"}, reals{}, []<class W>(W x) { return x < W(0) ? W(0) : x > W(6) ? W(6) : x; });
  each_with_exponential(ops, "Elu", []<class T>(T x, T e) {
    const T below = e - T(1);
    return x < T(0) ? below : x;
  });
  each_with_exponential(ops, "Selu", []<class T>(T x, T e) {
    const T below = T(selu_scale_alpha) * (e - T(1)), above = T(selu_scale) * x;
    return x < T(0) ? below : above;
  });
  each1_computed(ops, {"Softsign"}, floats{}, []<class W>(W x) { return x / (std::abs(x) + W(1)); });
  ops.add("Softplus", floats{}, []<class T>(Call& call, In<T> features) {
    T* out = call.alloc_over<T>(0, features.index, features.shape());
    detail::with_function(features.data(), out, features.size(), vector_functions<Wide<T>>().exp,
                          [threshold = softplus_threshold<T>()](const T* from, const Wide<T>* exponential, T* to, std::int64_t n) {
                            softplus(from, exponential, to, n, threshold);
                          });
  });
  ops.add("LeakyRelu", floats{}, []<class T>(Call& call, In<T> features, Attr<"alpha", float> alpha) {
    const T* in = features.data();
    T* out = call.alloc_over<T>(0, features.index, features.shape());
    detail::in_ranges(features.size(), 1, [&, slope = static_cast<T>(*alpha)](std::int64_t first, std::int64_t last) {
      const auto leak = [slope](const T& x) {
        const T below = x * slope;
        return x > T(0) ? x : below;
      };
      detail::each_of_all(leak, in + first, out + first, last - first);
    });
  });
}

}  // namespace troupe
