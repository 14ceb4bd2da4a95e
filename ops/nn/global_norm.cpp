// The batch normalisation of old graphs, with statistics given, and its gradient.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/wide.hpp>

#include <cmath>
#include <vector>

namespace troupe {

namespace {

using NormTypes = types<half, float, double>;

template <class T>
Status check(const In<T>& t, std::initializer_list<std::pair<const char*, const In<T>*>> vectors) {
  if (t.dims() != 4) return invalid("input must be 4-dimensional{}", t.shape());
  for (const auto& [name, v] : vectors) {
    if (v->dims() != 1) return invalid("{} must be 1-dimensional{}", name, v->shape());
    if (v->dim(0) != t.dim(3)) return invalid("{} must have as many elements as the input has channels, got {} and {}", name, v->dim(0), t.dim(3));
  }
  return absl::OkStatus();
}

template <class T>
Status normalise(Call& call, const In<T>& t, const In<T>& mean, const In<T>& variance, const In<T>& beta, const In<T>& gamma, float epsilon,
                 bool scale) {
  TRY(check(t, {{"mean", &mean}, {"var", &variance}, {"beta", &beta}, {"gamma", &gamma}}));
  using W = Wide<T>;
  const std::int64_t depth = t.dim(3);
  T* out = call.alloc<T>(0, t.shape());
  for (std::int64_t c = 0; c < depth; ++c) {
    W factor = W(1) / std::sqrt(static_cast<W>(variance[c]) + static_cast<W>(epsilon));
    if (scale) factor *= static_cast<W>(gamma[c]);
    for (std::int64_t i = c; i < t.size(); i += depth)
      out[i] = static_cast<T>((static_cast<W>(t[i]) - static_cast<W>(mean[c])) * factor + static_cast<W>(beta[c]));
  }
  return absl::OkStatus();
}

template <class T>
Status gradient(Call& call, const In<T>& t, const In<T>& mean, const In<T>& variance, const In<T>& gamma, const In<T>& back, float epsilon,
                bool scale) {
  TRY(check(t, {{"mean", &mean}, {"var", &variance}, {"gamma", &gamma}}));
  if (back.dims() != 4) return invalid("out_backprop must be 4-dimensional{}", back.shape());
  if (back.shape() != t.shape()) return invalid("out_backprop must have the shape of the input: {} vs. {}", back.shape(), t.shape());
  const std::int64_t depth = t.dim(3);
  T *dx = call.alloc<T>(0, t.shape()), *dm = call.alloc<T>(1, Shape{depth}), *dv = call.alloc<T>(2, Shape{depth});
  T *db = call.alloc<T>(3, Shape{depth}), *dg = call.alloc<T>(4, Shape{depth});
  for (std::int64_t c = 0; c < depth; ++c) {
    const double inverse = 1 / std::sqrt(static_cast<double>(variance[c]) + epsilon),
                 factor = scale ? inverse * static_cast<double>(gamma[c]) : inverse;
    double sum = 0, products = 0;
    for (std::int64_t i = c; i < t.size(); i += depth) {
      const double g = static_cast<double>(back[i]);
      sum += g;
      products += g * (static_cast<double>(t[i]) - static_cast<double>(mean[c]));
      dx[i] = static_cast<T>(g * factor);
    }
    db[c] = static_cast<T>(sum);
    dm[c] = static_cast<T>(-sum * factor);
    dv[c] = static_cast<T>(products * -0.5 * inverse * inverse * factor);
    dg[c] = static_cast<T>(scale ? products * inverse : 0);
  }
  return absl::OkStatus();
}

}  // namespace

void add_global_norm(Registry& ops) {
  ops.add("BatchNormWithGlobalNormalization", NormTypes{},
          []<class T>(Call& call, In<T> t, In<T> m, In<T> v, In<T> beta, In<T> gamma, Attr<"variance_epsilon", float> epsilon,
                      Attr<"scale_after_normalization", bool> scale) { return normalise(call, t, m, v, beta, gamma, *epsilon, *scale); });
  ops.add("BatchNormWithGlobalNormalizationGrad", NormTypes{},
          []<class T>(Call& call, In<T> t, In<T> m, In<T> v, In<T> gamma, In<T> back, Attr<"variance_epsilon", float> epsilon,
                      Attr<"scale_after_normalization", bool> scale) { return gradient(call, t, m, v, gamma, back, *epsilon, *scale); });
}

}  // namespace troupe
