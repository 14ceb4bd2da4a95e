// The convolution of two or three dimensions in one op, with any number of batch dimensions.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/conv.hpp>
#include <troupe/ops/nn/options.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

struct AnyConvOptions {
  std::vector<std::int64_t> strides, dilations, paddings;
  Padding padding;
  bool channels_first;
  std::int64_t batch_dims;

  static StatusOr<AnyConvOptions> make(Binding& binding) {
    AnyConvOptions o;
    TRY_ASSIGN(o.strides, binding.attr<std::vector<std::int64_t>>("strides"));
    TRY_ASSIGN(o.dilations, binding.attr<std::vector<std::int64_t>>("dilations"));
    TRY_ASSIGN(o.paddings, binding.attr<std::vector<std::int64_t>>("explicit_paddings"));
    TRY_ASSIGN(auto padding, binding.attr<std::string>("padding"));
    TRY_ASSIGN(o.padding, padding_from(padding));
    TRY_ASSIGN(auto format, binding.attr<std::string>("data_format"));
    o.channels_first = format == "CHANNELS_FIRST";
    TRY_ASSIGN(o.batch_dims, binding.attr<std::int64_t>("batch_dims"));
    TRY_ASSIGN(auto groups, binding.attr<std::int64_t>("groups"));
    if (groups != 1) return unimplemented("Grouped/Depthwise Convolutions are not supported yet.");
    if (o.padding != Padding::fixed && !o.paddings.empty())
      return invalid("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
    return o;
  }

  /// Whether the options fit an image of so many spatial dimensions. Lists begin with the batch and end with the channels.
  Status check(std::size_t spatial) const {
    const std::size_t rank = spatial + 2, channel = channels_first ? 1 : rank - 1;
    const auto is_spatial = [&](std::size_t i) { return i != 0 && i != channel; };
    if (strides.size() != rank) return invalid("Sliding window strides field must specify {} dimensions", rank);
    if (strides[0] != 1 || strides[channel] != 1)
      return invalid("Current implementation does not support strides in the batch and depth dimensions.");
    if (std::any_of(strides.begin(), strides.end(), [](std::int64_t n) { return n <= 0; }))
      return invalid("Spatial strides should be larger than 0.");
    if (!dilations.empty()) {
      if (dilations.size() != rank) return invalid("Dilation rates field must specify{}dimensions", rank);
      if (dilations[0] != 1 || dilations[channel] != 1)
        return invalid("Current implementation does not support dilation rates in the batch and depth dimensions.");
      if (std::any_of(dilations.begin(), dilations.end(), [](std::int64_t n) { return n <= 0; }))
        return invalid("Dilated rates should be larger than 0.");
    }
    if (padding != Padding::fixed) return absl::OkStatus();
    if (paddings.size() != 2 * rank) return invalid("explicit_paddings attribute must contain {} values, but got: {}", 2 * rank, paddings.size());
    for (std::int64_t p : paddings)
      if (p < 0) return invalid("All elements of explicit_paddings must be nonnegative");
    for (std::size_t i = 0; i < rank; ++i)
      if (!is_spatial(i) && (paddings[2 * i] != 0 || paddings[2 * i + 1] != 0))
        return invalid("Nonzero explicit padding in the batch or depth dimensions is not supported");
    return absl::OkStatus();
  }
};

template <class T>
Status convolve_any(Call& call, const In<T>& input, const In<T>& filter, const AnyConvOptions& o) {
  const int rank = input.dims();
  const std::int64_t spatial_dims = rank - 1 - o.batch_dims;
  if (spatial_dims != 2 && spatial_dims != 3) return invalid("The input must have 2 or 3 spatial dimensions but got {}", spatial_dims);
  const int spatial = static_cast<int>(spatial_dims), batch = static_cast<int>(o.batch_dims);
  TRY(o.check(static_cast<std::size_t>(spatial)));
  if (filter.dims() != 4 && filter.dims() != 5) return invalid("The filter must be rank 4 or 5 but got {}", filter.dims());
  if (batch < 0 || filter.dims() != spatial + 2) return invalid("The filter must be rank {} but got {}", spatial + 2, filter.dims());
  const std::int64_t depth = input.dim(o.channels_first ? batch : rank - 1);
  if (depth != filter.dim(spatial)) return invalid("Input depth must be equal to filter depth: {} vs {}", depth, filter.dim(spatial));
  if (filter.size() == 0) return invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  if (spatial == 3) {
    if (o.channels_first) return invalid("CPU implementation of Conv3D currently only supports the NHWC tensor format.");
    if (std::any_of(o.dilations.begin(), o.dilations.end(), [](std::int64_t n) { return n != 1; }))
      return invalid("CPU implementation of Conv3D currently only supports dilated rates of 1.");
  }
  if (o.channels_first)
    return unimplemented("The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW");
  Convolution c{input.shape().elements(0, batch), depth, filter.dim(spatial + 1), 1, {}};
  Shape shape(input.shape().dims().first(static_cast<std::size_t>(batch)));
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<std::size_t>(i) + 1;
    const bool fixed = o.padding == Padding::fixed;
    TRY_ASSIGN(Window w, make_window(input.dim(batch + i), filter.dim(i), o.strides[at], o.dilations.empty() ? 1 : o.dilations[at], o.padding,
                                     fixed ? o.paddings[2 * at] : 0, fixed ? o.paddings[2 * at + 1] : 0));
    shape.add_dim(w.output);
    c.window[static_cast<std::size_t>(3 - spatial + i)] = w;
  }
  shape.add_dim(c.out_channels);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() > 0) convolve(c, input.data(), filter.data(), out);
  return absl::OkStatus();
}

}  // namespace

void add_conv_any(Registry& ops) {
  ops.add("Conv", types<half, bfloat16, float, double, std::int32_t>{},
          []<class T>(Call& call, In<T> input, In<T> filter, const AnyConvOptions& o) { return convolve_any(call, input, filter, o); });
  ops.cost({"Conv"}, 200);
}

}  // namespace troupe
