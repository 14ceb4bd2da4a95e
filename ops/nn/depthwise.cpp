// Convolutions of each channel on its own, and their gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/channels_first.hpp>
#include <troupe/ops/nn/conv_onednn.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/nn/wide.hpp>
#include <troupe/ops/nn/window.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

/// The attributes of a depthwise convolution.
struct DepthwiseOptions {
  std::vector<std::int64_t> strides, dilations, paddings;
  Padding padding;
  bool channels_first;

  static StatusOr<DepthwiseOptions> make(Binding& binding);
  /// The same for inputs whose channels have been moved to the end.
  DepthwiseOptions with_channels_last() const {
    return {list_channels_last(strides, 4), list_channels_last(dilations, 4), list_channels_last(paddings, 4), padding, false};
  }
  StatusOr<Window> window(std::size_t i, std::int64_t input, std::int64_t filter, std::int64_t dilation = 1) const {
    const bool fixed = padding == Padding::fixed;
    return make_window(input, filter, strides[i], dilation, padding, fixed ? paddings[2 * i] : 0, fixed ? paddings[2 * i + 1] : 0);
  }
};

StatusOr<DepthwiseOptions> DepthwiseOptions::make(Binding& binding) {
  DepthwiseOptions o;
  TRY_ASSIGN(auto type, binding.attr<DType>("T"));
  TRY_ASSIGN(o.strides, binding.attr<std::vector<std::int64_t>>("strides"));
  TRY_ASSIGN(o.dilations, binding.attr<std::vector<std::int64_t>>("dilations"));
  TRY_ASSIGN(o.paddings, binding.attr<std::vector<std::int64_t>>("explicit_paddings"));
  TRY_ASSIGN(auto padding, binding.attr<std::string>("padding"));
  TRY_ASSIGN(o.padding, padding_from(padding));
  const auto format = binding.attr<std::string>("data_format");
  TRY(format.status());
  o.channels_first = std::string_view(*format) == "NCHW";
  if (o.strides.size() != 4) return invalid("Sliding window strides field must specify 4 dimensions");
  const std::size_t row = o.channels_first ? 2 : 1, channel = o.channels_first ? 1 : 3;
  const bool quick = type == DType::f32 || type == DType::bf16;  // those that TensorFlow computes with oneDNN
  if (o.strides[row] != o.strides[row + 1] && !quick)
    return invalid("Current implementation only supports equal length strides in the row and column dimensions.");
  if (o.dilations.size() != 4) return invalid("Sliding window dilations field must specify 4 dimensions");
  if (o.strides[0] != 1 || o.strides[channel] != 1)
    return invalid("Current implementation does not yet support strides in the batch and depth dimensions.");
  if (o.padding == Padding::fixed && o.paddings.size() != 8)
    return invalid("explicit_paddings attribute must contain 8 values, but got: {}", o.paddings.size());
  if (std::any_of(o.paddings.begin(), o.paddings.end(), [](std::int64_t p) { return p < 0; }))
    return invalid("All elements of explicit_paddings must be nonnegative");
  return o;
}

Status check_layout(const DepthwiseOptions& o) {
  return o.channels_first ? unimplemented("Depthwise convolution on CPU is only supported for NHWC format") : absl::OkStatus();
}

struct Sizes {
  std::int64_t batch, channels, multiplier;
  Window rows, columns;
  std::int64_t outputs() const { return channels * multiplier; }
};

/// The same as a convolution in which each channel is a group.
Convolution grouped(const Sizes& s) { return {s.batch, s.channels, s.outputs(), s.channels, {Window{}, s.rows, s.columns}}; }

/// Calls tap(offset of the output's pixel, of the input's pixel, of the filter's tap) for all that meet in images [first, last).
template <class Tap>
void for_each_tap(const Sizes& s, std::int64_t first, std::int64_t last, Tap&& tap) {
  const auto &h = s.rows, &w = s.columns;
  for (std::int64_t b = first; b < last; ++b)
    for (std::int64_t r = 0; r < h.output; ++r)
      for (std::int64_t c = 0; c < w.output; ++c)
        for (std::int64_t i = 0; i < h.filter; ++i)
          for (std::int64_t j = 0; j < w.filter; ++j) {
            const std::int64_t y = h.begin(r) + i * h.dilation, x = w.begin(c) + j * w.dilation;
            if (y >= 0 && y < h.input && x >= 0 && x < w.input)
              tap(((b * h.output + r) * w.output + c) * s.outputs(), ((b * h.input + y) * w.input + x) * s.channels,
                  (i * w.filter + j) * s.outputs());
          }
}
double ns_of_image(const Sizes& s) {
  return 0.3 * static_cast<double>(s.rows.output * s.columns.output * s.rows.filter * s.columns.filter) * static_cast<double>(s.outputs());
}

template <class T>
using Values = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using Sums = Eigen::Map<Eigen::Array<Wide<T>, Eigen::Dynamic, 1>>;

/// Sums in Wide<T>, rounded once: f(sums, first, last) adds up what images [first, last) give, each to places of its own.
template <class T, class F>
void sum_into(T* out, std::int64_t n, const Sizes& s, F f) {
  const auto sum = [&](Wide<T>* sums) {
    std::fill_n(sums, n, Wide<T>(0));
    in_parallel(s.batch, ns_of_image(s), [&](std::int64_t first, std::int64_t last) { f(sums, first, last); });
  };
  if constexpr (std::is_same_v<T, Wide<T>>) {
    sum(out);
  } else {
    std::vector<Wide<T>> sums(static_cast<std::size_t>(n));
    sum(sums.data());
    std::transform(sums.begin(), sums.end(), out, [](Wide<T> v) { return static_cast<T>(v); });
  }
}

template <class T>
Status forward(Call& call, const In<T>& input, const In<T>& filter, const DepthwiseOptions& o) {
  if (takes_channels_first<T> && o.channels_first && input.dims() == 4) {
    const Tensor last = channels_last(input.tensor);
    TRY(forward(call, In<T>{last, input.index}, filter, o.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  const bool dilates = takes_channels_first<T> && o.dilations[0] == 1 && o.dilations[3] == 1 && o.dilations[1] > 0 && o.dilations[2] > 0;
  if (!dilates && std::any_of(o.dilations.begin(), o.dilations.end(), [](std::int64_t d) { return d != 1; }))
    return unimplemented("Current kernel implementation does not support dilations, received [{}]", fmt::join(o.dilations, " "));
  if (input.dims() != 4) return invalid("input must be 4-dimensional{}", input.shape());
  if (filter.dims() != 4) return invalid("filter must be 4-dimensional: {}", filter.shape());
  const int channel = o.channels_first ? 1 : 3, row = o.channels_first ? 2 : 1;
  Sizes s{input.dim(0), input.dim(channel), filter.dim(3), {}, {}};
  if (s.channels != filter.dim(2)) return invalid("input and filter must have the same depth: {} vs {}", s.channels, filter.dim(2));
  TRY_ASSIGN(s.rows, o.window(static_cast<std::size_t>(row), input.dim(row), filter.dim(0), o.dilations[static_cast<std::size_t>(row)]));
  TRY_ASSIGN(s.columns,
             o.window(static_cast<std::size_t>(row) + 1, input.dim(row + 1), filter.dim(1), o.dilations[static_cast<std::size_t>(row) + 1]));
  const Shape shape =
      o.channels_first ? Shape{s.batch, s.outputs(), s.rows.output, s.columns.output} : Shape{s.batch, s.rows.output, s.columns.output, s.outputs()};
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  TRY(check_layout(o));
  if constexpr (std::is_same_v<T, float>)
    if (onednn::convolve(grouped(s), input.data(), filter.data(), out)) return absl::OkStatus();
  sum_into(out, shape.elements(), s, [&](Wide<T>* sums, std::int64_t first, std::int64_t last) {
    for_each_tap(s, first, last, [&](std::int64_t to, std::int64_t from, std::int64_t tap) {
      const T *x = input.data() + from, *w = filter.data() + tap;
      if (s.multiplier == 1) {
        Sums<T>(sums + to, s.channels) += Values<T>(x, s.channels).template cast<Wide<T>>() * Values<T>(w, s.channels).template cast<Wide<T>>();
        return;
      }
      for (std::int64_t c = 0, o = 0; c < s.channels; ++c)
        for (std::int64_t m = 0; m < s.multiplier; ++m, ++o) sums[to + o] += static_cast<Wide<T>>(x[c]) * static_cast<Wide<T>>(w[o]);
    });
  });
  return absl::OkStatus();
}

StatusOr<Sizes> gradient_sizes(const char* name, const DepthwiseOptions& o, const Shape& input, const Shape& filter, const Shape& gradient) {
  if (input.rank() != 4) return invalid("{}: input must be 4-dimensional", name);
  if (filter.rank() != 4) return invalid("{}: filter must be 4-dimensional", name);
  if (gradient.rank() != 4) return invalid("{}: out_backprop must be 4-dimensional", name);
  const int channel = o.channels_first ? 1 : 3, row = o.channels_first ? 2 : 1;
  Sizes s{input[0], input[channel], filter[3], {}, {}};
  if (s.batch != gradient[0]) return invalid("{}: input and out_backprop must have the same batch size", name);
  if (s.channels != filter[2]) return invalid("{}: input and filter must have the same in_depth", name);
  if (s.outputs() != gradient[channel]) return invalid("{}: depth_multiplier * in_depth not equal to out_depth", name);
  TRY_ASSIGN(s.rows, o.window(static_cast<std::size_t>(row), input[row], filter[0]));
  TRY_ASSIGN(s.columns, o.window(static_cast<std::size_t>(row) + 1, input[row + 1], filter[1]));
  if (s.rows.output != gradient[row])
    return invalid("{}: Number of rows of out_backprop doesn't match computed: actual = {}, computed = {}", name, gradient[row], s.rows.output);
  if (s.columns.output != gradient[row + 1])
    return invalid("{}: Number of cols of out_backprop doesn't match computed: actual = {}, computed = {}", name, gradient[row + 1],
                   s.columns.output);
  return s;
}

StatusOr<Shape> shape_from(const In<std::int32_t>& sizes, const char* name, const char* op) {
  if (sizes.dims() != 1) return invalid("{}: {} input must be 1-dim, not {}", op, name, sizes.dims());
  for (std::int64_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 0) return invalid("Dimension {} of {} must be >= 0", i, name);
  Shape::Dims dims(sizes.data(), sizes.data() + sizes.size());
  return Shape::checked({dims.data(), dims.size()});
}

template <class T>
Status input_gradient(Call& call, const In<std::int32_t>& sizes, const In<T>& filter, const In<T>& gradient, const DepthwiseOptions& o) {
  if (takes_channels_first<T> && o.channels_first && o.padding != Padding::fixed) {
    const Tensor sizes_last = sizes_channels_last(sizes.tensor, 4), last = channels_last(gradient.tensor);
    TRY(input_gradient(call, In<std::int32_t>{sizes_last, sizes.index}, filter, In<T>{last, gradient.index}, o.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY_ASSIGN(Shape shape, shape_from(sizes, "input_sizes", "Conv2DBackpropInput"));
  TRY_ASSIGN(Sizes s, gradient_sizes("DepthwiseConv2DBackpropInput", o, shape, filter.shape(), gradient.shape()));
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  TRY(check_layout(o));
  if constexpr (std::is_same_v<T, float>)
    if (onednn::convolve_back(grouped(s), filter.data(), gradient.data(), out)) return absl::OkStatus();
  sum_into(out, shape.elements(), s, [&](Wide<T>* sums, std::int64_t first, std::int64_t last) {
    for_each_tap(s, first, last, [&](std::int64_t from, std::int64_t to, std::int64_t tap) {
      const T *g = gradient.data() + from, *w = filter.data() + tap;
      if (s.multiplier == 1) {
        Sums<T>(sums + to, s.channels) += Values<T>(g, s.channels).template cast<Wide<T>>() * Values<T>(w, s.channels).template cast<Wide<T>>();
        return;
      }
      for (std::int64_t c = 0, o = 0; c < s.channels; ++c)
        for (std::int64_t m = 0; m < s.multiplier; ++m, ++o) sums[to + c] += static_cast<Wide<T>>(g[o]) * static_cast<Wide<T>>(w[o]);
    });
  });
  return absl::OkStatus();
}

template <class T>
Status filter_gradient(Call& call, const In<T>& input, const In<std::int32_t>& sizes, const In<T>& gradient, const DepthwiseOptions& o) {
  if (takes_channels_first<T> && o.channels_first && o.padding != Padding::fixed) {
    const Tensor x = channels_last(input.tensor), g = channels_last(gradient.tensor);
    return filter_gradient(call, In<T>{x, input.index}, sizes, In<T>{g, gradient.index}, o.with_channels_last());
  }
  TRY_ASSIGN(Shape shape, shape_from(sizes, "filter_sizes", "Conv2DBackpropFilter"));
  TRY_ASSIGN(Sizes s, gradient_sizes("DepthwiseConv2DBackpropFilter", o, input.shape(), shape, gradient.shape()));
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  TRY(check_layout(o));
  if constexpr (std::is_same_v<T, float>)
    if (onednn::correlate(grouped(s), input.data(), gradient.data(), out)) return absl::OkStatus();
  std::vector<Wide<T>> sums(static_cast<std::size_t>(shape.elements()), Wide<T>(0));
  for_each_tap(s, 0, s.batch, [&](std::int64_t from, std::int64_t pixel, std::int64_t tap) {
    const T *g = gradient.data() + from, *x = input.data() + pixel;
    if (s.multiplier == 1) {
      Sums<T>(sums.data() + tap, s.channels) += Values<T>(g, s.channels).template cast<Wide<T>>() * Values<T>(x, s.channels).template cast<Wide<T>>();
      return;
    }
    for (std::int64_t c = 0, o = 0; c < s.channels; ++c)
      for (std::int64_t m = 0; m < s.multiplier; ++m, ++o)
        sums[static_cast<std::size_t>(tap + o)] += static_cast<Wide<T>>(g[o]) * static_cast<Wide<T>>(x[c]);
  });
  std::transform(sums.begin(), sums.end(), out, [](Wide<T> v) { return static_cast<T>(v); });
  return absl::OkStatus();
}

}  // namespace

void add_depthwise(Registry& ops) {
  ops.add("DepthwiseConv2dNative", floats{},
          []<class T>(Call& call, In<T> input, In<T> filter, const DepthwiseOptions& o) { return forward(call, input, filter, o); });
  ops.add("DepthwiseConv2dNativeBackpropInput", floats{},
          []<class T>(Call& call, In<std::int32_t> sizes, In<T> filter, In<T> gradient, const DepthwiseOptions& o) {
            return input_gradient(call, sizes, filter, gradient, o);
          });
  ops.add("DepthwiseConv2dNativeBackpropFilter", floats{},
          []<class T>(Call& call, In<T> input, In<std::int32_t> sizes, In<T> gradient, const DepthwiseOptions& o) {
            return filter_gradient(call, input, sizes, gradient, o);
          });
  ops.cost({"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"}, 30);
}

}  // namespace troupe
