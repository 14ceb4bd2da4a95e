// Quantised images, each channel brought to mean zero and variance one.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/quantized_range.hpp>
#include <troupe/ops/nn/options.hpp>

#include <vector>

namespace troupe {

namespace {

struct NormOptions {
  bool given;
  float low, high, epsilon, separation;

  static StatusOr<NormOptions> make(Binding& binding) {
    NormOptions o;
    TRY_ASSIGN(o.given, binding.attr<bool>("output_range_given"));
    TRY_ASSIGN(o.low, binding.attr<float>("given_y_min"));
    TRY_ASSIGN(o.high, binding.attr<float>("given_y_max"));
    TRY_ASSIGN(o.epsilon, binding.attr<float>("variance_epsilon"));
    TRY_ASSIGN(o.separation, binding.attr<float>("min_separation"));
    if (o.given && o.low >= o.high) return invalid("given_y_min must be less than given_y_max : {:g} >= {:g}", o.low, o.high);
    return o;
  }
};

/// One channel of one image, normalised. The mean of what is stored falls out, wherever zero lies.
void normalise(const quint8* x, std::int64_t count, std::int64_t step, double scale, float epsilon, float* y) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[i * step].value;
  const double mean = sum / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) squares += (x[i * step].value - mean) * (x[i * step].value - mean);
  const double factor = scale / std::sqrt(squares / static_cast<double>(count) * scale * scale + epsilon);
  for (std::int64_t i = 0; i < count; ++i) y[i * step] = static_cast<float>((x[i * step].value - mean) * factor);
}

Status instance_norm(Call& call, const In<quint8>& x, const Any& low, const Any& high, const NormOptions& o) {
  if (low->rank() != 0) return invalid("`x_min` must be rank 0 but is rank {}", low->rank());
  if (high->rank() != 0) return invalid("`x_max` must be rank 0 but is rank {}", high->rank());
  const float from = low->item<float>(), to = high->item<float>();
  if (!(from < to)) return invalid("input_min must be less than input_max : {:g} >= {:g}", from, to);
  if (x.dims() != 4) return invalid("input must be 4-dimensional{}", x.shape());
  const std::int64_t count = x.dim(1) * x.dim(2), channels = x.dim(3);
  std::vector<float> y(static_cast<std::size_t>(x.size()));
  for (std::int64_t b = 0; b < x.dim(0) && count > 0; ++b)
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t at = b * count * channels + c;
      normalise(x.data() + at, count, channels, (static_cast<double>(to) - from) / 255.0, o.epsilon, y.data() + at);
    }
  QuantizedRange range{o.low, o.high};
  if (!o.given) {
    const auto [least, most] = std::minmax_element(y.begin(), y.end());
    range.low = y.empty() ? 0 : *least;
    range.high = std::max(y.empty() ? 0 : *most, range.low + o.separation);
  }
  const Storing<quint8> storing(range);
  quint8* out = call.alloc<quint8>(0, x.shape());
  for (std::size_t i = 0; i < y.size(); ++i) out[i].value = storing(y[i]);
  call.set_scalar<float>(1, range.low);
  call.set_scalar<float>(2, range.high);
  return absl::OkStatus();
}

}  // namespace

void add_quantized_norm(Registry& ops) {
  ops.add("QuantizedInstanceNorm",
          [](Call& call, In<quint8> x, Any low, Any high, const NormOptions& options) { return instance_norm(call, x, low, high, options); });
}

}  // namespace troupe
