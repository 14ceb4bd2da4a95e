// Batch normalisation in one op, and its gradient.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace troupe {

namespace {

// Sums over a batch are taken in this many places at once.
constexpr std::int64_t most_parts = 8;

/// How channels lie in an input: [outer][channels][inner].
struct Layout {
  std::int64_t outer, channels, inner;

  static StatusOr<Layout> of(const Shape& shape, const std::string& format) {
    if (shape.rank() != 4 && shape.rank() != 5) return invalid("input must be 4 or 5-dimensional{}", shape);
    const int at = format[1] == 'C' ? 1 : shape.rank() - 1;
    return Layout{shape.elements(0, at), shape[at], shape.elements(at + 1, shape.rank())};
  }
  std::int64_t count() const { return outer * inner; }
  /// Calls f(offset, channel) for all values of images [first, last).
  template <class F>
  void each(std::int64_t first, std::int64_t last, F&& f) const {
    std::int64_t at = first * channels * inner;
    for (std::int64_t o = first; o < last; ++o) {
      if (inner == 1) {
        for (std::int64_t c = 0; c < channels; ++c) f(at + c, c);
        at += channels;
        continue;
      }
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = 0; i < inner; ++i) f(at++, c);
    }
  }
  /// The same for all, at once where it is worth it.
  template <class F>
  void each_in_parallel(F&& f) const {
    in_parallel(outer, 2.0 * static_cast<double>(channels * inner), [&](std::int64_t first, std::int64_t last) { each(first, last, f); });
  }
  /// K sums of each channel, one after another: term(k, offset, channel) is what a value adds to the k-th.
  template <int K, class F>
  std::vector<double> sums(F&& term) const {
    // As many parts whatever the number of threads, added in order: the result does not depend on who computed what.
    const std::int64_t parts = std::clamp<std::int64_t>(outer, 1, most_parts);
    const auto size = static_cast<std::size_t>(K * channels);
    std::vector<double> all(size * static_cast<std::size_t>(parts), 0.0);
    in_parallel(parts, 2.0 * static_cast<double>(channels * count() / parts), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t p = from; p < to; ++p) {
        double* own = all.data() + static_cast<std::size_t>(p) * size;
        each(outer * p / parts, outer * (p + 1) / parts, [&](std::int64_t i, std::int64_t c) {
          for (int k = 0; k < K; ++k) own[k * channels + c] += term(k, i, c);
        });
      }
    });
    for (std::size_t i = size; i < all.size(); ++i) all[i % size] += all[i];
    all.resize(size);
    return all;
  }
};

Status check_vector(const char* name, const Shape& shape) {
  return shape.rank() == 1 ? absl::OkStatus() : invalid("{} must be 1-dimensional{}", name, shape);
}
Status check_channels(const char* name, const Shape& shape, std::int64_t channels) {
  return shape[0] == channels ? absl::OkStatus()
                              : invalid("{} must have the same number of elements as the channels of x, got {} and {}", name, shape[0], channels);
}

/// What both directions take from the node.
struct Options {
  float epsilon, factor;
  bool training;
  const std::string& format;
};

template <class T>
Status normalise(Call& call, const In<T>& x, const In<float>& scale, const In<float>& offset, const In<float>& mean, const In<float>& variance,
                 const Options& o) {
  TRY_ASSIGN(const Layout at, Layout::of(x.shape(), o.format));
  TRY(check_vector("scale", scale.shape()));
  TRY(check_vector("offset", offset.shape()));
  TRY(check_vector("estimated_mean", mean.shape()));
  TRY(check_vector("estimated_variance", variance.shape()));
  TRY(check_channels("scale", scale.shape(), at.channels));
  TRY(check_channels("offset", offset.shape(), at.channels));
  if (!o.training || o.factor != 1) {
    const std::string when = o.training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
    TRY(check_channels((when + "mean").c_str(), mean.shape(), at.channels));
    TRY(check_channels((when + "variance").c_str(), variance.shape(), at.channels));
  }
  T* y = call.alloc<T>(0, x.shape());
  const Shape vector{at.channels};
  float *out_mean = call.alloc<float>(1, vector), *out_variance = call.alloc<float>(2, vector);
  float *saved_mean = call.alloc<float>(3, vector), *saved_variance = call.alloc<float>(4, vector);
  if (call.outputs() > 5) call.set_scalar<float>(5, 0.0f);
  const double n = static_cast<double>(at.count()), unbiased = n > 1 ? n / (n - 1) : 1;
  std::vector<double> means, variances;
  if (o.training) {
    means = at.sums<1>([from = x.data()](int, std::int64_t i, std::int64_t) { return static_cast<double>(from[i]); });
    for (double& m : means) m /= n;
    variances = at.sums<1>([from = x.data(), m = means.data()](int, std::int64_t i, std::int64_t c) {
      const double d = static_cast<double>(from[i]) - m[c];
      return d * d;
    });
    for (double& v : variances) v /= n;
  } else {
    means.assign(mean.data(), mean.data() + at.channels);
    variances.assign(variance.data(), variance.data() + at.channels);
  }
  std::vector<float> factors(means.size());
  for (std::int64_t c = 0; c < at.channels; ++c) {
    const auto k = static_cast<std::size_t>(c);
    saved_mean[c] = static_cast<float>(means[k]);
    saved_variance[c] = static_cast<float>(variances[k]);
    // An empty batch has no statistics.
    const float nan = std::numeric_limits<float>::quiet_NaN(), new_mean = n == 0 ? nan : saved_mean[c];
    const float new_variance = n == 0 ? nan : static_cast<float>(variances[k] * unbiased);
    out_mean[c] = !o.training ? mean[c] : o.factor == 1 ? new_mean : (1 - o.factor) * mean[c] + o.factor * new_mean;
    out_variance[c] = !o.training ? variance[c] : o.factor == 1 ? new_variance : (1 - o.factor) * variance[c] + o.factor * new_variance;
    factors[k] = scale[c] / std::sqrt(saved_variance[c] + o.epsilon);
  }
  at.each_in_parallel([&, from = x.data(), factor = factors.data(), shift = offset.data()](std::int64_t i, std::int64_t c) {
    y[i] = static_cast<T>((static_cast<float>(from[i]) - saved_mean[c]) * factor[c] + shift[c]);
  });
  return absl::OkStatus();
}

template <class T>
Status gradient(Call& call, const In<T>& dy, const In<T>& x, const In<float>& scale, const In<float>& mean, const In<float>& variance,
                const Options& o) {
  TRY(Layout::of(dy.shape(), o.format).status());
  TRY_ASSIGN(const Layout at, Layout::of(x.shape(), o.format));
  TRY(check_vector("scale", scale.shape()));
  TRY(check_vector("saved mean", mean.shape()));
  TRY(check_vector("saved variance", variance.shape()));
  if (x.shape() != dy.shape())
    return invalid("x and y_backprop must have same shape, but x has shape {} and y_backprop has shape {}", x.shape(), dy.shape());
  TRY(check_channels("scale", scale.shape(), at.channels));
  TRY(check_channels("reserve_space_1", mean.shape(), at.channels));
  TRY(check_channels("reserve_space_2", variance.shape(), at.channels));
  T* dx = call.alloc<T>(0, x.shape());
  float *d_scale = call.alloc<float>(1, Shape{at.channels}), *d_offset = call.alloc<float>(2, Shape{at.channels});
  call.alloc<float>(3, Shape{0});
  call.alloc<float>(4, Shape{0});
  const double n = static_cast<double>(at.count());
  const std::vector<double> sums = at.sums<2>([g = dy.data(), from = x.data(), m = mean.data()](int k, std::int64_t i, std::int64_t c) {
    return k == 0 ? static_cast<double>(g[i]) : static_cast<double>(g[i]) * (static_cast<double>(from[i]) - m[c]);
  });
  struct Slopes {
    double factor, average, slope;
  };
  std::vector<Slopes> slopes;
  for (std::int64_t c = 0; c < at.channels; ++c) {
    const double sum = sums[static_cast<std::size_t>(c)], products = sums[static_cast<std::size_t>(at.channels + c)];
    const double square = static_cast<double>(variance[c]) + o.epsilon, inverse = 1 / std::sqrt(square);
    d_offset[c] = static_cast<float>(sum);
    d_scale[c] = static_cast<float>(products * inverse);
    slopes.push_back({scale[c] * inverse, o.training ? sum / n : 0, o.training ? products / n / square : 0});
  }
  at.each_in_parallel([&, g = dy.data(), from = x.data(), m = mean.data(), of = slopes.data()](std::int64_t i, std::int64_t c) {
    const Slopes& s = of[c];
    dx[i] = static_cast<T>(static_cast<float>((static_cast<double>(g[i]) - s.average - (static_cast<double>(from[i]) - m[c]) * s.slope) * s.factor));
  });
  return absl::OkStatus();
}

template <class... Ts>
void add_forward(Registry& ops, Registry::Names names, types<Ts...> ts) {
  ops.add(names, ts,
          []<class T>(Call& call, In<T> x, In<float> scale, In<float> offset, In<float> mean, In<float> variance, Attr<"epsilon", float> epsilon,
                      Attr<"exponential_avg_factor", float> factor, Attr<"is_training", bool> training, Attr<"data_format", std::string> format) {
            return normalise(call, x, scale, offset, mean, variance, {*epsilon, *factor, *training, *format});
          });
  ops.cost(names, 10);
}

template <class... Ts>
void add_gradient(Registry& ops, Registry::Names names, types<Ts...> ts) {
  ops.add(names, ts,
          []<class T>(Call& call, In<T> dy, In<T> x, In<float> scale, In<float> mean, In<float> variance, Attr<"epsilon", float> epsilon,
                      Attr<"is_training", bool> training, Attr<"data_format", std::string> format) {
            return gradient(call, dy, x, scale, mean, variance, {*epsilon, 1, *training, *format});
          });
  ops.cost(names, 10);
}

/// Normalises, adds a side input where there is one, and activates.
template <class T>
Status normalise_and_activate(Call& call, const In<T>& x, const List& side, const std::string& activation) {
  if (activation != "Identity" && activation != "Relu") return invalid("Unsupported activation mode: {}", activation);
  if (side.size() > 1) return invalid("_FusedBatchNormEx accepts at most one side input.");
  Tensor& out = call.out(0);
  if (side.size() == 1 && (side[0].shape() != x.shape() || side[0].dtype() != out.dtype()))
    return invalid("side_input shape must be equal to input shape: {} != {}", side[0].shape(), x.shape());
  T* y = out.mutable_data<T>();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (side.size() == 1) y[i] = y[i] + side[0].data<T>()[i];
    if (activation == "Relu" && y[i] < T(0)) y[i] = T(0);
  }
  return absl::OkStatus();
}

}  // namespace

void add_batch_norm(Registry& ops) {
  add_forward(ops, {"FusedBatchNorm"}, types<float>{});
  add_forward(ops, {"FusedBatchNormV2", "FusedBatchNormV3"}, types<half, bfloat16, float>{});
  add_gradient(ops, {"FusedBatchNormGrad"}, types<float>{});
  add_gradient(ops, {"FusedBatchNormGradV2", "FusedBatchNormGradV3"}, types<half, bfloat16, float>{});
  ops.add("_FusedBatchNormEx", types<float, bfloat16>{},
          []<class T>(Call& call, In<T> x, In<float> scale, In<float> offset, In<float> mean, In<float> variance, List side,
                      Attr<"epsilon", float> epsilon, Attr<"exponential_avg_factor", float> factor, Attr<"is_training", bool> training,
                      Attr<"data_format", std::string> format, Attr<"activation_mode", std::string> activation) -> Status {
            TRY(normalise(call, x, scale, offset, mean, variance, {*epsilon, *factor, *training, *format}));
            return normalise_and_activate(call, x, side, *activation);
          });
}

}  // namespace troupe
