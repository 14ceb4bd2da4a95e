// Attributes and sizes of pooling ops.
#include <troupe/ops/nn/pool.hpp>

namespace troupe {

StatusOr<PoolOptions> PoolOptions::make(Binding& binding) {
  PoolOptions o;
  const auto list = [&](const char* name, std::vector<std::int64_t>& out) -> Status {
    if (!binding.find(name)) return absl::OkStatus();
    TRY_ASSIGN(out, binding.attr<std::vector<std::int64_t>>(name));
    return absl::OkStatus();
  };
  TRY(list("ksize", o.ksize));
  TRY(list("strides", o.strides));
  TRY(list("explicit_paddings", o.paddings));
  TRY_ASSIGN(auto padding, binding.attr<std::string>("padding"));
  TRY_ASSIGN(o.padding, padding_from(padding));
  TRY_ASSIGN(auto format, binding.find("data_format") ? binding.attr<std::string>("data_format") : StatusOr<std::string>("NHWC"));
  o.channels_first = format.size() > 1 && format[1] == 'C';
  if (o.padding == Padding::fixed && o.paddings.size() != 8)
    return invalid("explicit_paddings attribute must contain 8 values, but got: {}", o.paddings.size());
  for (std::int64_t p : o.paddings)
    if (p < 0) return invalid("All elements of explicit_paddings must be nonnegative");
  return o;
}

StatusOr<PoolOptions> with_inputs(const PoolOptions& options, const In<std::int32_t>& ksize, const In<std::int32_t>& strides) {
  PoolOptions o = options;
  o.ksize.assign(ksize.data(), ksize.data() + ksize.size());
  o.strides.assign(strides.data(), strides.data() + strides.size());
  if (o.ksize.size() != 4) return invalid("Sliding window ksize field must specify 4 dimensions");
  if (o.strides.size() != 4) return invalid("Sliding window stride field must specify 4 dimensions");
  if (std::any_of(o.ksize.begin(), o.ksize.end(), [](std::int64_t k) { return k <= 0; })) return invalid("Sliding window ksize must be positive.");
  if (o.ksize[0] != 1 || o.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
  return o;
}

Status check_max_pool_options(const PoolOptions& o, const char* kind) {
  if (o.channels_first) return invalid("Default {} only supports NHWC on device type CPU", kind);
  if (o.ksize.size() != 4) return invalid("Sliding window ksize field must specify 4 dimensions");
  for (std::size_t i = 0; i < 4; ++i)
    if (o.ksize[i] == 0) return invalid("Sliding window ksize for dimension {} was zero.", i);
  if (o.strides.size() != 4) return invalid("Sliding window stride field must specify 4 dimensions");
  if (o.ksize[0] != 1 || o.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
  return absl::OkStatus();
}

static Status check_fixed(const Window& w, const char* before, const char* after) {
  if (w.before >= w.filter) return invalid("{} padding {} needs to be smaller than the window size {}", before, w.before, w.filter);
  if (w.after >= w.filter) return invalid("{} padding {} needs to be smaller than the window size {}", after, w.after, w.filter);
  return absl::OkStatus();
}

StatusOr<Pooling> pool_sizes(const PoolOptions& o, const Shape& input) {
  if (input.rank() != 4) return invalid("tensor_in_shape must have 2 spatial dimensions. {} 0", input.rank());
  for (std::int64_t k : o.ksize)
    if (k <= 0) return invalid("Sliding window ksize must be positive.");
  Pooling p;
  p.batch = input[0];
  p.depth = input[3];
  p.depth_window = o.ksize[3];
  if (p.depth_window != 1) {
    if (o.ksize[1] != 1 || o.ksize[2] != 1)
      return unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
    if (p.depth % p.depth_window != 0) return unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth");
    if (p.depth_window != o.strides[3]) return unimplemented("Depthwise max pooling requires the depth window to equal the depth stride");
  }
  for (std::size_t i = 1; i < 3; ++i) {
    const bool fixed = o.padding == Padding::fixed;
    TRY_ASSIGN(Window w, make_window(input[static_cast<int>(i)], o.ksize[i], o.strides[i], 1, o.padding, fixed ? o.paddings[2 * i] : 0,
                                     fixed ? o.paddings[2 * i + 1] : 0));
    if (fixed) TRY(i == 1 ? check_fixed(w, "Top", "Bottom") : check_fixed(w, "Left", "Right"));
    p.window[i] = w;
  }
  return p;
}

}  // namespace troupe
