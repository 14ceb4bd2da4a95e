// A bias per channel, and the gradient of one.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/wide.hpp>

namespace troupe {

namespace {

/// An input as blocks of [outer][channels][inner].
struct Channels {
  std::int64_t outer, channels, inner;

  static Channels of(const Shape& shape, bool first) {
    const int at = first ? 1 : shape.rank() - 1;
    return {shape.elements(0, at), shape[at], shape.elements(at + 1, shape.rank())};
  }
};

template <class T>
Status add_bias(Call& call, In<T> value, In<T> bias, bool channels_first) {
  if (value.dims() < 2) return invalid("Input tensor must be at least 2D: {}", value.shape());
  if (bias.dims() != 1) return invalid("Biases must be 1D: {}", bias.shape());
  const auto at = Channels::of(value.shape(), channels_first);
  if (bias.dim(0) != at.channels)
    return invalid("Must provide as many biases as the last dimension of the input tensor: {} vs. {}", bias.shape(), value.shape());
  T* out = call.alloc_over<T>(0, value.index, value.shape());
  if (value.size() == 0) return absl::OkStatus();
  const T* in = value.data();
  if (at.inner == 1) {
    const auto b = bias.array();
    for (std::int64_t o = 0; o < at.outer; ++o, in += at.channels, out += at.channels)
      ArrayMap<T>(out, at.channels) = ConstArrayMap<T>(in, at.channels) + b;
    return absl::OkStatus();
  }
  for (std::int64_t o = 0; o < at.outer; ++o)
    for (std::int64_t c = 0; c < at.channels; ++c, in += at.inner, out += at.inner)
      ArrayMap<T>(out, at.inner) = ConstArrayMap<T>(in, at.inner) + bias[c];
  return absl::OkStatus();
}

template <class T>
Status sum_channels(Call& call, In<T> gradient, bool channels_first) {
  if (gradient.dims() < 2) return invalid("Input tensor must be at least 2D: {}", gradient.shape());
  const auto at = Channels::of(gradient.shape(), channels_first);
  T* out = call.alloc<T>(0, Shape{at.channels});
  Eigen::Array<Wide<T>, Eigen::Dynamic, 1> sums = Eigen::Array<Wide<T>, Eigen::Dynamic, 1>::Zero(at.channels);
  const T* in = gradient.data();
  for (std::int64_t o = 0; o < (gradient.size() == 0 ? 0 : at.outer); ++o, in += at.channels * at.inner)
    if (at.inner == 1) sums += ConstArrayMap<T>(in, at.channels).template cast<Wide<T>>();
    else
      for (std::int64_t c = 0; c < at.channels; ++c) sums[c] += ConstArrayMap<T>(in + c * at.inner, at.inner).template cast<Wide<T>>().sum();
  ArrayMap<T>(out, at.channels) = sums.template cast<T>();
  return absl::OkStatus();
}

}  // namespace

void add_bias(Registry& ops) {
  ops.add("BiasAdd", numbers{}, []<class T>(Call& call, In<T> value, In<T> bias, Attr<"data_format", std::string> format) {
    return add_bias(call, value, bias, *format == "NCHW");
  });
  ops.add("BiasAddV1", numbers{}, []<class T>(Call& call, In<T> value, In<T> bias) { return add_bias(call, value, bias, false); });
  ops.add("BiasAddGrad", numbers{}, []<class T>(Call& call, In<T> gradient, Attr<"data_format", std::string> format) {
    return sum_channels(call, gradient, *format == "NCHW");
  });
}

}  // namespace troupe
