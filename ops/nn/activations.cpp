// Activations.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/selu.hpp>
#include <troupe/ops/nn/wide.hpp>

#include <cmath>
#include <limits>

namespace troupe {

namespace {

/// y = f(x), value by value.
template <class... Ts, class F>
void each_value(Registry& ops, const char* name, types<Ts...> ts, F f) {
  ops.add(name, ts, [f]<class T>(Call& call, In<T> x) {
    const T* in = x.data();
    T* out = call.alloc_over<T>(0, x.index, x.shape());
    for (std::int64_t i = 0, n = x.size(); i < n; ++i) out[i] = static_cast<T>(f(static_cast<Wide<T>>(in[i])));
  });
}

/// The same without a wider type: each operation rounds, as TensorFlow's do.
template <class... Ts, class F>
void each_own(Registry& ops, const char* name, types<Ts...> ts, F f) {
  ops.add(name, ts, [f]<class T>(Call& call, In<T> x) {
    const T* in = x.data();
    T* out = call.alloc_over<T>(0, x.index, x.shape());
    for (std::int64_t i = 0, n = x.size(); i < n; ++i) out[i] = f(in[i]);
  });
}

/// exp(x) - 1, rounded in between.
template <class T>
T minus_one(T x) {
  return static_cast<T>(std::exp(static_cast<Wide<T>>(x))) - T(1);
}

/// Softplus is linear above -threshold and exponential below it, to the precision of T.
template <class T>
Wide<T> softplus_threshold() {
  return std::log(static_cast<Wide<T>>(Eigen::NumTraits<T>::epsilon())) + 2;
}

}  // namespace

void add_activations(Registry& ops) {
  // Written so that NaN stays NaN.
  each_value(ops, "Relu", reals{}, []<class W>(W x) { return x < W(0) ? W(0) : x; });
  each_value(ops, "Relu6", reals{}, []<class W>(W x) { return x < W(0) ? W(0) : x > W(6) ? W(6) : x; });
  each_own(ops, "Elu", floats{}, []<class T>(T x) { return x < T(0) ? minus_one(x) : x; });
  each_own(ops, "Selu", floats{}, []<class T>(T x) { return x < T(0) ? T(selu_scale_alpha) * minus_one(x) : T(selu_scale) * x; });
  each_value(ops, "Softsign", floats{}, []<class W>(W x) { return x / (std::abs(x) + W(1)); });
  ops.add("Softplus", floats{}, []<class T>(Call& call, In<T> features) {
    const Wide<T> threshold = softplus_threshold<T>();
    const T* in = features.data();
    T* out = call.alloc_over<T>(0, features.index, features.shape());
    for (std::int64_t i = 0, n = features.size(); i < n; ++i) {
      const Wide<T> x = static_cast<Wide<T>>(in[i]);
      out[i] = static_cast<T>(x > -threshold ? x : x < threshold ? std::exp(x) : std::log1p(std::exp(x)));
    }
  });
  ops.add("LeakyRelu", floats{}, []<class T>(Call& call, In<T> features, Attr<"alpha", float> alpha) {
    const T slope = static_cast<T>(*alpha), *in = features.data();
    T* out = call.alloc_over<T>(0, features.index, features.shape());
    for (std::int64_t i = 0, n = features.size(); i < n; ++i) out[i] = in[i] > T(0) ? in[i] : in[i] * slope;
  });
}

}  // namespace troupe
