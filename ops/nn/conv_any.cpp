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
  std::int64_t batch_dims, groups;

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
    TRY_ASSIGN(o.groups, binding.attr<std::int64_t>("groups"));
    return o;
  }
};

template <class T>
Status convolve_any(Call& call, const In<T>& input, const In<T>& filter, const AnyConvOptions& o) {
  const int spatial = filter.dims() - 2, batch = static_cast<int>(o.batch_dims), rank = input.dims();
  if (spatial != 2 && spatial != 3) return invalid("The input must have 2 or 3 spatial dimensions but got {}", spatial);
  if (batch < 0 || rank != batch + spatial + 1) return invalid("input must be {}-dimensional: {}", batch + spatial + 1, input.shape());
  if (o.channels_first) return unimplemented("The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW");
  const auto first = static_cast<std::size_t>(o.strides.size() == static_cast<std::size_t>(spatial) ? 0 : 1), wanted = first == 0 ? static_cast<std::size_t>(spatial) : static_cast<std::size_t>(spatial) + 2;
  if (o.strides.size() != wanted) return invalid("Sliding window strides field must specify {} dimensions", spatial + 2);
  if (!o.dilations.empty() && o.dilations.size() != wanted) return invalid("Sliding window dilations field must specify {} dimensions", spatial + 2);
  if (o.padding == Padding::fixed && o.paddings.size() != 2 * static_cast<std::size_t>(spatial + 2))
    return invalid("explicit_paddings attribute must contain {} values, but got: {}", 2 * (spatial + 2), o.paddings.size());
  Convolution c{input.shape().elements(0, batch), input.dim(rank - 1), filter.dim(spatial + 1), 1, {}};
  const std::int64_t depth = filter.dim(spatial);
  if (depth <= 0) return invalid("filter depth must be stricly positive, got {}", depth);
  if (c.in_channels % depth != 0) return invalid("input depth must be evenly divisible by filter depth: {} vs {}", c.in_channels, depth);
  c.groups = c.in_channels / depth;
  Shape shape(input.shape().dims().first(static_cast<std::size_t>(batch)));
  for (int i = 0; i < spatial; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i), pad = 2 * (static_cast<std::size_t>(i) + 1);
    const bool fixed = o.padding == Padding::fixed;
    TRY_ASSIGN(Window w, make_window(input.dim(batch + i), filter.dim(i), o.strides[at], o.dilations.empty() ? 1 : o.dilations[at], o.padding,
                                     fixed ? std::max<std::int64_t>(0, o.paddings[pad]) : 0, fixed ? std::max<std::int64_t>(0, o.paddings[pad + 1]) : 0));
    shape.add_dim(w.output);
    c.window[static_cast<std::size_t>(3 - spatial + i)] = w;
  }
  shape.add_dim(c.out_channels);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  if (c.out_channels % c.groups != 0) return invalid("output depth must be evenly divisible by number of groups: {} vs {}", c.out_channels, c.groups);
  if (filter.size() == 0) return invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  convolve(c, input.data(), filter.data(), out);
  return absl::OkStatus();
}

}  // namespace

void add_conv_any(Registry& ops) {
  ops.add("Conv", types<half, bfloat16, float, double, std::int32_t>{}, []<class T>(Call& call, In<T> input, In<T> filter, const AnyConvOptions& o) {
    return convolve_any(call, input, filter, o);
  });
  ops.cost({"Conv"}, 200);
}

}  // namespace troupe
