// Convolutions of volumes and their gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/channels_first.hpp>
#include <troupe/ops/nn/conv.hpp>
#include <troupe/ops/nn/options.hpp>

#include <vector>

namespace troupe {

namespace {

/// The attributes of a three-dimensional convolution.
struct VolumeOptions {
  std::vector<std::int64_t> strides, dilations;
  Padding padding;
  bool channels_first;

  int spatial(int i) const { return i + (channels_first ? 2 : 1); }
  int channel() const { return channels_first ? 1 : 4; }
  StatusOr<Window> window(int i, std::int64_t input, std::int64_t filter) const {
    const auto at = static_cast<std::size_t>(spatial(i));
    return make_window(input, filter, strides[at], dilations[at], padding);
  }
  bool dilated() const {
    for (int i = 0; i < 3; ++i)
      if (dilations[static_cast<std::size_t>(spatial(i))] != 1) return true;
    return false;
  }
  static StatusOr<VolumeOptions> make(Binding& binding);
  /// The same for inputs whose channels have been moved to the end.
  VolumeOptions with_channels_last() const { return {list_channels_last(strides, 5), list_channels_last(dilations, 5), padding, false}; }
};

StatusOr<VolumeOptions> VolumeOptions::make(Binding& binding) {
  TRY_ASSIGN(auto strides, binding.attr<std::vector<std::int64_t>>("strides"));
  TRY_ASSIGN(auto dilations, binding.attr<std::vector<std::int64_t>>("dilations"));
  TRY_ASSIGN(auto padding_text, binding.attr<std::string>("padding"));
  TRY_ASSIGN(auto padding, padding_from(padding_text));
  TRY_ASSIGN(auto format, binding.find("data_format") ? binding.attr<std::string>("data_format") : StatusOr<std::string>("NDHWC"));
  if (format != "NDHWC" && format != "NCDHW") return invalid("Invalid data format");
  VolumeOptions o{std::move(strides), std::move(dilations), padding, format == "NCDHW"};
  const auto channel = static_cast<std::size_t>(o.channel());
  if (o.strides.size() != 5) return invalid("Sliding window strides field must specify 5 dimensions");
  if (o.strides[0] != 1 || o.strides[channel] != 1)
    return invalid("Current implementation does not yet support strides in the batch and depth dimensions.");
  if (o.dilations.size() != 5) return invalid("Dilation rates field must specify 5 dimensions");
  if (o.dilations[0] != 1 || o.dilations[channel] != 1)
    return invalid("Current implementation does not yet support dilation rates in the batch and depth dimensions.");
  for (int i = 0; i < 3; ++i)
    if (o.strides[static_cast<std::size_t>(o.spatial(i))] <= 0) return invalid("Spatial strides should be larger than 0.");
  for (int i = 0; i < 3; ++i)
    if (o.dilations[static_cast<std::size_t>(o.spatial(i))] <= 0) return invalid("Dilated rates should be larger than 0.");
  return o;
}

template <class T>
Status convolve_3d(Call& call, const In<T>& input, const In<T>& filter, const VolumeOptions& o) {
  if (input.dims() != 5) return invalid("input must be 5-dimensional");
  if (takes_channels_first<T> && o.channels_first) {
    const Tensor last = channels_last(input.tensor);
    TRY(convolve_3d(call, In<T>{last, input.index}, filter, o.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  if (filter.dims() != 5) return invalid("filter must be 5-dimensional");
  Convolution c{input.dim(0), input.dim(o.channel()), filter.dim(4), 1, {}};
  if (filter.dim(3) == 0) return invalid("filter_depth must be non-zero");
  if (c.in_channels % filter.dim(3) != 0)
    return invalid("Input depth must be evenly divisible by filter depth: {} vs {}", c.in_channels, filter.dim(3));
  if (filter.size() == 0) return invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  Shape shape{c.batch};
  for (int i = 0; i < 3; ++i) {
    TRY_ASSIGN(Window w, o.window(i, input.dim(o.spatial(i)), filter.dim(i)));
    shape.add_dim(w.output);
    c.window[static_cast<std::size_t>(i)] = w;
  }
  shape.insert_dim(o.channels_first ? 1 : 4, c.out_channels);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  if (o.channels_first) return invalid("CPU implementation of Conv3D currently only supports the NHWC tensor format.");
  if (o.dilated() && !takes_channels_first<T>) return invalid("CPU implementation of Conv3D currently only supports dilated rates of 1.");
  if (c.in_channels != filter.dim(3))
    return invalid("Number of channels in filter ({}) must match last dimension of input ({})", filter.dim(3), c.in_channels);
  convolve(c, input.data(), filter.data(), out);
  return absl::OkStatus();
}

StatusOr<Convolution> gradient_sizes(const char* name, const VolumeOptions& o, const Shape& input, const Shape& filter, const Shape& gradient) {
  if (input.rank() != 5) return invalid("input tensor must have 5 dimensions");
  if (filter.rank() != 5) return invalid("filter_sizes tensor must have 5 dimensions");
  if (gradient.rank() != 5) return invalid("out_backprop tensor must have 5 dimensions");
  Convolution c{input[0], input[4], filter[4], 1, {}};
  if (c.batch != gradient[0])
    return invalid("{}: input and out_backprop must have the same batch size. Input batch: {}, outbackprop batch: {}, batch_dim: 0", name, c.batch,
                   gradient[0]);
  if (input[4] != filter[3])
    return invalid("input and filter_sizes must have the same number of channels. Got {} for input and {} for filter_sizes", input[4], filter[3]);
  if (gradient[4] != filter[4])
    return invalid("out_backprop and filter_sizes must have the same number of channels. Got {} for out_backprop and {} for filter_sizes",
                   gradient[4], filter[4]);
  for (int i = 0; i < 3; ++i) {
    TRY_ASSIGN(Window w, o.window(i, input[i + 1], filter[i]));
    if (w.output != gradient[i + 1])
      return invalid(
          "{}: Size of out_backprop doesn't match computed: actual = {}, computed = {} spatial_dim: {} input: {} filter: {} output: {} "
          "stride: {} dilation: {}",
          name, gradient[i + 1], w.output, i + 1, w.input, w.filter, gradient[i + 1], w.stride, w.dilation);
    c.window[static_cast<std::size_t>(i)] = w;
  }
  return c;
}

template <class T>
Status input_gradient(Call& call, const Shape& shape, const In<T>& filter, const In<T>& gradient, const VolumeOptions& o) {
  if (o.channels_first) {
    const Tensor last = channels_last(gradient.tensor);
    TRY(input_gradient(call, shape, filter, In<T>{last, gradient.index}, o.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY_ASSIGN(auto c, gradient_sizes("Conv3DBackpropInputOp", o, shape, filter.shape(), gradient.shape()));
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() > 0) convolve_back(c, filter.data(), gradient.data(), out);
  return absl::OkStatus();
}

template <class T>
Status filter_gradient(Call& call, const In<T>& input, const Shape& shape, const In<T>& gradient, const VolumeOptions& o) {
  if (o.channels_first) {
    const Tensor x = channels_last(input.tensor), g = channels_last(gradient.tensor);
    return filter_gradient(call, In<T>{x, input.index}, shape, In<T>{g, gradient.index}, o.with_channels_last());
  }
  TRY_ASSIGN(auto c, gradient_sizes("Conv3DBackpropFilterOp", o, input.shape(), shape, gradient.shape()));
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() > 0) correlate(c, input.data(), gradient.data(), out);
  return absl::OkStatus();
}

/// Channels that come first, and dilation, are for the types that TensorFlow computes with oneDNN.
template <class T>
Status check_layout(const VolumeOptions& o, const char* name) {
  if (takes_channels_first<T>) return absl::OkStatus();
  if (o.channels_first) return invalid("{} only supports NDHWC on the CPU.", name);
  if (o.dilated()) return invalid("Current CPU implementation does not yet support dilation rates larger than 1.");
  return absl::OkStatus();
}

template <class I>
StatusOr<Shape> shape_from(const In<I>& sizes) {
  if (sizes.dims() != 1) return invalid("input_sizes must be 1-dimensional, got {}", sizes.shape());
  Shape::Dims dims(sizes.data(), sizes.data() + sizes.size());
  return Shape::checked({dims.data(), dims.size()});
}

}  // namespace

void add_conv3d(Registry& ops) {
  ops.add("Conv3D", floats{},
          []<class T>(Call& call, In<T> input, In<T> filter, const VolumeOptions& options) { return convolve_3d(call, input, filter, options); });
  ops.add("Conv3DBackpropInput", types<half, float, double>{},
          []<class T>(Call& call, In<T> input, In<T> filter, In<T> gradient, const VolumeOptions& o) -> Status {
            TRY(check_layout<double>(o, "Conv3DBackpropInputOp"));
            return input_gradient(call, input.shape(), filter, gradient, o);
          });
  ops.add("Conv3DBackpropInputV2", On<"T", floats>{}, On<"Tshape", indices>{},
          []<class T, class I>(Call& call, In<I> sizes, In<T> filter, In<T> gradient, const VolumeOptions& o) -> Status {
            TRY(check_layout<T>(o, "Conv3DBackpropInputOpV2"));
            const Tensor last = o.channels_first ? sizes_channels_last(sizes.tensor, 5) : sizes.tensor;
            TRY_ASSIGN(Shape shape, shape_from(In<I>{last, sizes.index}));
            return input_gradient(call, shape, filter, gradient, o);
          });
  ops.add("Conv3DBackpropFilter", types<half, float, double>{},
          []<class T>(Call& call, In<T> input, In<T> filter, In<T> gradient, const VolumeOptions& o) -> Status {
            TRY(check_layout<double>(o, "Conv3DBackpropFilterOp"));
            return filter_gradient(call, input, filter.shape(), gradient, o);
          });
  ops.add("Conv3DBackpropFilterV2", floats{},
          []<class T>(Call& call, In<T> input, In<std::int32_t> sizes, In<T> gradient, const VolumeOptions& o) -> Status {
            TRY(check_layout<T>(o, "Conv3DBackpropFilterOpV2"));
            TRY_ASSIGN(Shape shape, shape_from(sizes));
            return filter_gradient(call, input, shape, gradient, o);
          });
  ops.cost({"Conv3D", "Conv3DBackpropInput", "Conv3DBackpropInputV2", "Conv3DBackpropFilter", "Conv3DBackpropFilterV2"}, 400);
}

}  // namespace troupe
