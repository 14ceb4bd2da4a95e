// Convolutions of images and their gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/conv2d.hpp>
#include <troupe/ops/nn/conv_groups.hpp>
#include <troupe/ops/nn/fused.hpp>

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

using ConvTypes = types<half, bfloat16, float, double, std::int32_t>;

Status check_paddings(const ConvOptions& o) {
  if (o.padding != Padding::fixed)
    return o.paddings.empty() ? absl::OkStatus() : invalid("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  if (o.paddings.size() != 8) return invalid("explicit_paddings attribute must contain 8 values, but got: {}", o.paddings.size());
  for (std::int64_t p : o.paddings)
    if (p < 0) return invalid("All elements of explicit_paddings must be nonnegative");
  const auto channel = static_cast<std::size_t>(o.channel());
  if (o.paddings[0] != 0 || o.paddings[1] != 0 || o.paddings[2 * channel] != 0 || o.paddings[2 * channel + 1] != 0)
    return invalid("Nonzero explicit padding in the batch or depth dimensions is not supported");
  return absl::OkStatus();
}

StatusOr<Convolution> forward_sizes(const ConvOptions& o, const Shape& input, const Shape& filter) {
  if (input.rank() != 4) return invalid("convolution input must be 4-dimensional: {}", input);
  if (filter.rank() != 4) return invalid("convolution filter must be 4-dimensional: {}", filter);
  for (int i = 0; i < 3; ++i)
    if (filter[i] >= std::numeric_limits<int>::max()) return invalid("filter too large");
  Convolution c{input[0], input[o.channel()], filter[3], 1, {}};
  if (filter[2] <= 0) return invalid("filter depth must be stricly positive, got {}", filter[2]);
  if (c.in_channels % filter[2] != 0) return invalid("input depth must be evenly divisible by filter depth: {} vs {}", c.in_channels, filter[2]);
  c.groups = c.in_channels / filter[2];
  for (int i = 0; i < 2; ++i) {
    TRY_ASSIGN(c.window[static_cast<std::size_t>(i + 1)], o.window(i, input[o.spatial(i)], filter[i]));
  }
  return c;
}

Shape output_shape(const ConvOptions& o, const Convolution& c) {
  const std::int64_t h = c.window[1].output, w = c.window[2].output;
  return o.channels_first ? Shape{c.batch, c.out_channels, h, w} : Shape{c.batch, h, w, c.out_channels};
}

template <class T>
Status convolve_2d(Call& call, const In<T>& input, const In<T>& filter, const ConvOptions& o) {
  if (takes_channels_first<T> && o.channels_first && input.dims() == 4) {
    const Tensor last = channels_last(input.tensor);
    TRY(convolve_2d(call, In<T>{last, input.index}, filter, o.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY_ASSIGN(auto c, forward_sizes(o, input.shape(), filter.shape()));
  const Shape shape = output_shape(o, c);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  if (o.channels_first)
    return unimplemented("The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW");
  if (c.groups > 0 && c.out_channels % c.groups != 0)
    return invalid("output depth must be evenly divisible by number of groups: {} vs {}", c.out_channels, c.groups);
  if (filter.size() == 0) return invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  if (c.groups == 0) std::fill_n(out, shape.elements(), T(0));
  else convolve(c, input.data(), filter.data(), out);
  return absl::OkStatus();
}

/// The shape that an int32 vector spells out.
StatusOr<Shape> shape_from(const In<std::int32_t>& sizes) {
  Shape::Dims dims(sizes.data(), sizes.data() + sizes.size());
  for (std::int64_t n : dims)
    if (n < 0) return invalid("Dimension {} must be >= 0", n);
  return Shape::checked({dims.data(), dims.size()});
}

StatusOr<Shape> input_shape(const In<std::int32_t>& sizes, const ConvOptions& o, const Shape& filter, const Shape& gradient) {
  if (sizes.dims() != 1) return invalid("Conv2DBackpropInput: input_sizes input must be 1-dim, not {}", sizes.dims());
  if (sizes.size() == 4) return shape_from(sizes);
  if (sizes.size() != 2) return invalid("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: {}", sizes.size());
  if (sizes[0] < 0 || sizes[1] < 0) return invalid("Conv2DBackpropInput: elements of input_sizes must be >= 0, not {}x{}", sizes[0], sizes[1]);
  if (gradient.rank() < 1 || filter.rank() < 3) return invalid("input_sizes must be 4-dimensional, got: {}", gradient.rank());
  const std::int64_t dims[] = {gradient[0], o.channels_first ? filter[2] : sizes[0], o.channels_first ? sizes[0] : sizes[1],
                               o.channels_first ? sizes[1] : filter[2]};
  return Shape::checked(dims);
}

Status check_groups(const Convolution& c) {
  if (c.groups > 0 && c.out_channels % c.groups == 0) return absl::OkStatus();
  return invalid("output depth must be evenly divisible by number of groups: {} vs {}", c.out_channels, c.groups);
}

template <class T>
Status input_gradient(Call& call, const In<std::int32_t>& sizes, const In<T>& filter, const In<T>& gradient, const ConvOptions& o) {
  if (o.channels_first) {
    if (!takes_channels_first<T> || o.padding == Padding::fixed) return invalid("Conv2DCustomBackpropInputOp only supports NHWC.");
    const Tensor sizes_last = sizes_channels_last(sizes.tensor, 4), last = channels_last(gradient.tensor);
    TRY(input_gradient(call, In<std::int32_t>{sizes_last, sizes.index}, filter, In<T>{last, gradient.index}, o.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY_ASSIGN(Shape shape, input_shape(sizes, o, filter.shape(), gradient.shape()));
  TRY_ASSIGN(auto c, backprop_sizes("Conv2DCustomBackpropInput", o, shape, filter.shape(), gradient.shape()));
  if (c.groups != 1 && !takes_channels_first<T>)
    return invalid(
        "Gradients for grouped convolutions are not supported on CPU. Please file a feature request if you run into this issue. "
        "Computed input depth {} doesn't match filter input depth {}",
        c.in_channels, filter.dim(2));
  TRY(check_groups(c));
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() > 0) convolve_back_groups(c, filter.data(), gradient.data(), out);
  return absl::OkStatus();
}

template <class T>
Status filter_gradient(Call& call, const In<T>& input, const In<std::int32_t>& sizes, const In<T>& gradient, const ConvOptions& o) {
  if (o.channels_first) {
    if (!takes_channels_first<T> || o.padding == Padding::fixed) return invalid("Conv2DCustomBackpropFilterOp only supports NHWC.");
    const Tensor x = channels_last(input.tensor), g = channels_last(gradient.tensor);
    return filter_gradient(call, In<T>{x, input.index}, sizes, In<T>{g, gradient.index}, o.with_channels_last());
  }
  if (sizes.dims() != 1) return invalid("Conv2DCustomBackpropFilter: filter_sizes input must be 1-dim, not {}", sizes.dims());
  TRY_ASSIGN(Shape shape, shape_from(sizes));
  TRY_ASSIGN(auto c, backprop_sizes("Conv2DCustomBackpropFilter", o, input.shape(), shape, gradient.shape()));
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  if (input.size() == 0) {
    std::fill_n(out, shape.elements(), T(0));
    return absl::OkStatus();
  }
  if (c.groups != 1 && !takes_channels_first<T>)
    return invalid("filter_size does not have enough elements, requested {}, got {}", c.taps() * c.in_channels * c.out_channels, shape.elements());
  TRY(check_groups(c));
  correlate_groups(c, input.data(), gradient.data(), out);
  return absl::OkStatus();
}

/// The options of a gradient: only single precision knows dilation there.
struct GradientOptions : ConvOptions {
  static StatusOr<GradientOptions> make(Binding& binding) {
    TRY_ASSIGN(ConvOptions o, ConvOptions::make(binding));
    TRY_ASSIGN(const auto type, binding.attr<DType>("T"));
    const bool dilated = std::any_of(o.dilations.begin(), o.dilations.end(), [](std::int64_t d) { return d != 1; });
    const bool knows = (type == DType::f32 || type == DType::bf16) && o.padding != Padding::fixed;
    if (dilated && !knows) return invalid("Current CPU implementations do not yet support dilation rates larger than 1.");
    return GradientOptions{std::move(o)};
  }
};

}  // namespace

StatusOr<ConvOptions> ConvOptions::make(Binding& binding) {
  TRY_ASSIGN(auto strides, binding.attr<std::vector<std::int64_t>>("strides"));
  TRY_ASSIGN(auto dilations, binding.attr<std::vector<std::int64_t>>("dilations"));
  TRY_ASSIGN(auto paddings, binding.attr<std::vector<std::int64_t>>("explicit_paddings"));
  TRY_ASSIGN(auto padding_text, binding.attr<std::string>("padding"));
  TRY_ASSIGN(auto format, binding.attr<std::string>("data_format"));
  TRY_ASSIGN(auto padding, padding_from(padding_text));
  if (format != "NHWC" && format != "NCHW") return invalid("Invalid data format");
  ConvOptions o{std::move(strides), std::move(dilations), std::move(paddings), padding, format == "NCHW"};
  if (o.strides.size() != 4) return invalid("Sliding window strides field must specify 4 dimensions");
  if (o.dilations.size() != 4) return invalid("Sliding window dilations field must specify 4 dimensions");
  const auto channel = static_cast<std::size_t>(o.channel());
  const auto row = static_cast<std::size_t>(o.spatial(0));
  if (o.strides[0] != 1 || o.strides[channel] != 1)
    return unimplemented("Current implementation does not yet support strides in the batch and depth dimensions.");
  if (o.strides[row] <= 0 || o.strides[row + 1] <= 0) return invalid("Row and column strides should be larger than 0.");
  if (o.dilations[0] != 1 || o.dilations[channel] != 1)
    return unimplemented("Current implementation does not yet support dilations in the batch and depth dimensions.");
  if (o.dilations[row] <= 0 || o.dilations[row + 1] <= 0) return invalid("Dilated rates should be larger than 0.");
  TRY(check_paddings(o));
  return o;
}

StatusOr<Convolution> backprop_sizes(const char* name, const ConvOptions& o, const Shape& input, const Shape& filter, const Shape& gradient) {
  if (input.rank() != 4) return invalid("{}: input must be 4-dimensional", name);
  if (filter.rank() != 4) return invalid("{}: filter must be 4-dimensional", name);
  if (gradient.rank() != 4) return invalid("input_sizes must be 4-dimensional, got: {}", gradient.rank());
  Convolution c{input[0], input[o.channel()], filter[3], 1, {}};
  if (c.batch != gradient[0])
    return invalid("{}: input and out_backprop must have the same batch size. Input batch: {}, outbackprop batch: {}, batch_dim: 0", name, c.batch,
                   gradient[0]);
  if (filter[2] == 0 || c.in_channels % filter[2] != 0) return invalid("{}: input depth must be evenly divisible by filter depth", name);
  c.groups = c.in_channels / filter[2];
  if (c.out_channels != gradient[o.channel()]) return invalid("{}: filter and out_backprop must have the same out_depth", name);
  for (int i = 0; i < 2; ++i) {
    const int at = o.spatial(i);
    TRY_ASSIGN(Window w, o.window(i, input[at], filter[i]));
    if (w.output != gradient[at])
      return invalid(
          "{}: Size of out_backprop doesn't match computed: actual = {}, computed = {} spatial_dim: {} input: {} filter: {} output: {} "
          "stride: {} dilation: {}",
          name, gradient[at], w.output, at, w.input, w.filter, gradient[at], w.stride, w.dilation);
    c.window[static_cast<std::size_t>(i + 1)] = w;
  }
  return c;
}

void add_conv2d(Registry& ops) {
  ops.add("Conv2D", ConvTypes{},
          []<class T>(Call& call, In<T> input, In<T> filter, const ConvOptions& options) { return convolve_2d(call, input, filter, options); });
  ops.add("Conv2DBackpropInput", ConvTypes{},
          []<class T>(Call& call, In<std::int32_t> sizes, In<T> filter, In<T> gradient, const GradientOptions& options) {
            return input_gradient(call, sizes, filter, gradient, options);
          });
  ops.add("Conv2DBackpropFilter", floats{},
          []<class T>(Call& call, In<T> input, In<std::int32_t> sizes, In<T> gradient, const GradientOptions& options) {
            return filter_gradient(call, input, sizes, gradient, options);
          });
  ops.add("_FusedConv2D", types<float, double>{},
          []<class T>(Call& call, In<T> input, In<T> filter, List args, const ConvOptions& options, Attr<"fused_ops", std::vector<std::string>> fused,
                      Attr<"epsilon", float> epsilon, Attr<"leakyrelu_alpha", float> alpha) -> Status {
            if (options.channels_first)
              return unimplemented("The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW");
            TRY(convolve_2d(call, input, filter, options));
            Tensor& out = call.out(0);
            return finish_fused<T>(out.mutable_data<T>(), out.shape(), args, *fused, Finish{*alpha, *epsilon});
          });
  ops.cost({"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "_FusedConv2D"}, 200);
}

}  // namespace troupe
