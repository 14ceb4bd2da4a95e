// Convolutions of integers with scales and zero points, whose dimensions lie as the node says.
#include <troupe/ops/math/uniform_scales.hpp>
#include <troupe/ops/nn/options.hpp>

#include <numeric>
#include <vector>

namespace troupe {

namespace {

using Numbers = std::vector<std::int64_t>;

/// Which dimension of each tensor is what: batch (or output features), features (or input features), then the spatial ones.
struct Dimensions {
  Numbers lhs, rhs, output;

  static Dimensions plain(int rank) {
    Numbers all(static_cast<std::size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    return {all, all, all};
  }
};

/// Reads the message of the attribute: nine fields, numbers or lists of them.
class DimensionReader {
 public:
  explicit DimensionReader(std::string_view bytes) : bytes_(bytes) {}

  bool read(std::array<Numbers, 10>& fields) {
    while (!bytes_.empty()) {
      std::uint64_t tag = 0, value = 0;
      if (!varint(tag)) return false;
      const std::uint64_t field = tag >> 3, kind = tag & 7;
      if (field == 0 || field > 9 || (kind != 0 && kind != 2) || !varint(value)) return false;
      if (kind == 0) {
        fields[field].push_back(static_cast<std::int64_t>(value));
        continue;
      }
      if (value > bytes_.size()) return false;
      DimensionReader list(bytes_.substr(0, value));
      bytes_.remove_prefix(value);
      while (!list.bytes_.empty()) {
        if (!list.varint(value)) return false;
        fields[field].push_back(static_cast<std::int64_t>(value));
      }
    }
    return true;
  }

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }
  std::string_view bytes_;
};

StatusOr<Dimensions> dimensions(const std::string& text, int rank) {
  if (text.empty()) return Dimensions::plain(rank);
  std::array<Numbers, 10> fields;
  if (!DimensionReader(text).read(fields)) return invalid("Error parsing convolution dimension numbers.");
  const auto one = [&](std::size_t field) { return fields[field].empty() ? 0 : fields[field].back(); };
  Dimensions d{{one(1), one(2)}, {one(5), one(4)}, {one(7), one(8)}};
  for (const auto& [field, to] : {std::pair{3, &d.lhs}, std::pair{6, &d.rhs}, std::pair{9, &d.output}}) {
    const Numbers& spatial = fields[static_cast<std::size_t>(field)];
    if (static_cast<int>(spatial.size()) != rank - 2)
      return invalid("Spatial dimensions size must be rank - 2. Given rank {} and spatial dimensions size {}", rank, spatial.size());
    to->insert(to->end(), spatial.begin(), spatial.end());
  }
  for (const Numbers* list : {&d.lhs, &d.rhs, &d.output})
    for (std::int64_t n : *list)
      if (n < 0 || n >= rank)
        return invalid("Each dimension number must be in region [0, rank). Given rank {} and dimension number value {}", rank, n);
  // A dimension that is named twice would let places lie outside of the tensor.
  for (Numbers list : {d.lhs, d.rhs, d.output}) {
    std::sort(list.begin(), list.end());
    if (std::adjacent_find(list.begin(), list.end()) != list.end()) return invalid("Each dimension number must be given once.");
  }
  return d;
}

/// The attributes as they stand; they are checked when the rank is known.
struct UniformConvOptions {
  Numbers strides, paddings, lhs_dilation, rhs_dilation;
  std::string padding, dimension_numbers;
  std::int64_t batch_groups, feature_groups, rhs_axis, output_axis = -1;

  static StatusOr<UniformConvOptions> make(Binding& binding) {
    UniformConvOptions o;
    TRY_ASSIGN(o.strides, binding.attr<Numbers>("window_strides"));
    TRY_ASSIGN(o.paddings, binding.attr<Numbers>("explicit_padding"));
    TRY_ASSIGN(o.lhs_dilation, binding.attr<Numbers>("lhs_dilation"));
    TRY_ASSIGN(o.rhs_dilation, binding.attr<Numbers>("rhs_dilation"));
    TRY_ASSIGN(o.padding, binding.attr<std::string>("padding"));
    TRY_ASSIGN(o.dimension_numbers, binding.attr<std::string>("dimension_numbers"));
    TRY_ASSIGN(o.batch_groups, binding.attr<std::int64_t>("batch_group_count"));
    TRY_ASSIGN(o.feature_groups, binding.attr<std::int64_t>("feature_group_count"));
    TRY_ASSIGN(o.rhs_axis, binding.attr<std::int64_t>("rhs_quantization_axis"));
    if (binding.find("lhs_quantization_axis")) {
      TRY_ASSIGN(const auto lhs, binding.attr<std::int64_t>("lhs_quantization_axis"));
      if (lhs != -1) return invalid("lhs_quantization_axis Attr must be -1 (per-tensor).");
      TRY_ASSIGN(o.output_axis, binding.attr<std::int64_t>("output_quantization_axis"));
    }
    if (o.padding != "EXPLICIT" && o.padding != "SAME" && o.padding != "VALID")
      return invalid("padding Attr must be one of [EXPLICIT | SAME | VALID], but given: {}", o.padding);
    if (o.padding != "EXPLICIT" && !o.paddings.empty())
      return invalid("If padding Attr is not 'EXPLICIT', explicit_padding Attr must be empty. Given padding {} and explicit_padding of size {}",
                     o.padding, o.paddings.size());
    return o;
  }

  /// A list with one number for each spatial dimension; ones where it is empty.
  static StatusOr<Numbers> spatial(const Numbers& list, const char* name, std::size_t count) {
    if (list.empty()) return Numbers(count, 1);
    if (list.size() != count) return invalid("Size of {} Attr must be dims - 2.", name);
    for (std::int64_t n : list)
      if (n < 1) return invalid("All elements of {} must be >= 1. Given {}", name, fmt::join(list, ", "));
    return list;
  }
};

struct Side {
  std::int64_t input, reach, stride, lhs_dilation, rhs_dilation, before, output;
};

/// Sizes of the convolution, its dimensions in the order batch, features, spatial ones.
struct Sizes {
  Dimensions at;
  Shape lhs, rhs, output;  // in that order
  Shape given;             // the output as it lies
  std::vector<Side> sides;
};

/// The tensor's sizes in the order of `dims`.
Shape picked(const Shape& shape, const Numbers& dims) {
  Shape out;
  for (std::int64_t d : dims) out.add_dim(shape[static_cast<int>(d)]);
  return out;
}

Status check_features(const UniformConvOptions& o, const Shape& lhs, const Shape& rhs) {
  if (o.feature_groups < 1) return invalid("feature_group_count must be a positive integer, given: {}", o.feature_groups);
  if (o.batch_groups < 1) return invalid("batch_group_count must be a positive integer, given: {}", o.batch_groups);
  if (lhs[1] % o.feature_groups != 0)
    return invalid("feature_group_count must divide lhs feature dimension size, but {} does not divide {}", o.feature_groups, lhs[1]);
  if (rhs[1] == 0 || lhs[1] % rhs[1] != 0)
    return invalid("rhs input feature dimension must divide lhs feature dimension size, but {} does not divide {}", rhs[1], lhs[1]);
  if (lhs[1] / o.feature_groups != rhs[1])
    return invalid("lhs feature dimension size divided by feature_group_count must equal the rhs input feature dimension size, but {} / {} != {}",
                   lhs[1], o.feature_groups, rhs[1]);
  if (rhs[0] % o.feature_groups != 0)
    return invalid("rhs output dimension size must be a multiple of feature_group_count, but {} is not a multiple of {}", rhs[0], o.feature_groups);
  if (lhs[0] % o.batch_groups != 0)
    return invalid("batch_group_count must divide lhs batch dimension size, but {} does not divide {}", o.batch_groups, lhs[0]);
  if (rhs[0] % o.batch_groups != 0)
    return invalid("rhs output dimension size must be a multiple of batch_group_count, but {} is not a multiple of {}", rhs[0], o.batch_groups);
  return absl::OkStatus();
}

StatusOr<Side> side_of(const UniformConvOptions& o, std::size_t i, std::int64_t input, std::int64_t filter, Side s) {
  s.input = input;
  const std::int64_t whole = input > 0 ? (input - 1) * s.lhs_dilation + 1 : 0;
  s.reach = filter > 0 ? (filter - 1) * s.rhs_dilation + 1 : 0;
  std::int64_t after = 0;
  s.before = 0;
  if (o.padding == "EXPLICIT") {
    s.before = o.paddings[2 * i];
    after = o.paddings[2 * i + 1];
  } else if (o.padding == "SAME") {
    const std::int64_t output = (whole + s.stride - 1) / s.stride, needed = std::max<std::int64_t>(0, (output - 1) * s.stride + s.reach - whole);
    s.before = needed / 2;
    after = needed - s.before;
  }
  const std::int64_t padded = whole + s.before + after;
  s.output = padded == 0 || s.reach > padded ? 0 : (padded - s.reach) / s.stride + 1;
  return s;
}

StatusOr<Sizes> sizes_of(const UniformConvOptions& o, const Shape& lhs, const Shape& rhs) {
  if (lhs.rank() != rhs.rank()) return invalid("lhs and rhs must have same dims. Given lhs and rhs of shapes: {}{}", lhs, rhs);
  const int rank = lhs.rank();
  if (rank <= 2) return invalid("lhs and rhs shape dims must be at least 3. Given: {}", rank);
  Sizes s;
  TRY_ASSIGN(s.at, dimensions(o.dimension_numbers, rank));
  if (o.rhs_axis != -1 && o.rhs_axis != s.at.rhs[0])
    return invalid("rhs_quantization_axis Attr must be -1 (per-tensor) or dimension_numbers.kernel_output_feature_dimension (per-channel).");
  if (o.output_axis != -1 && o.output_axis != s.at.output[1])
    return invalid("output_quantization_axis Attr must be -1 (per-tensor) or dimension_numbers.output_feature_dimension (per-channel).");
  s.lhs = picked(lhs, s.at.lhs);
  s.rhs = picked(rhs, s.at.rhs);
  TRY(check_features(o, s.lhs, s.rhs));
  const auto count = static_cast<std::size_t>(rank - 2);
  TRY_ASSIGN(const auto strides, UniformConvOptions::spatial(o.strides, "window_strides", count));
  TRY_ASSIGN(const auto lhs_dilation, UniformConvOptions::spatial(o.lhs_dilation, "lhs_dilation", count));
  TRY_ASSIGN(const auto rhs_dilation, UniformConvOptions::spatial(o.rhs_dilation, "rhs_dilation", count));
  if (o.padding == "EXPLICIT") {
    if (o.paddings.size() != 2 * count)
      return invalid("Size of explicit_padding Attr must be 2 * (rank - 2). Given rank {} and explicit_padding of size {}", rank, o.paddings.size());
    for (std::int64_t n : o.paddings)
      if (n < 0) return invalid("All explicit_padding elems must be >= 0, Given {}", fmt::join(o.paddings, ", "));
  }
  s.output = Shape{s.lhs[0] / o.batch_groups, s.rhs[0]};
  for (std::size_t i = 0; i < count; ++i) {
    const int d = static_cast<int>(i) + 2;
    TRY_ASSIGN(const Side side, side_of(o, i, s.lhs[d], s.rhs[d], Side{0, 0, strides[i], lhs_dilation[i], rhs_dilation[i], 0, 0}));
    s.output.add_dim(side.output);
    s.sides.push_back(side);
  }
  Shape::Dims given(static_cast<std::size_t>(rank), -1);
  for (std::size_t d = 0; d < given.size(); ++d) given[static_cast<std::size_t>(s.at.output[d])] = s.output[static_cast<int>(d)];
  TRY_ASSIGN(s.given, Shape::checked({given.data(), given.size()}));
  return s;
}

/// Steps in a tensor's memory along its dimensions, in the order of `dims`.
Numbers steps_of(const Shape& shape, const Numbers& dims) {
  Numbers steps;
  for (std::int64_t d : dims) steps.push_back(shape.elements(static_cast<int>(d) + 1, shape.rank()));
  return steps;
}

/// Calls f(place, output feature, image of the left side, sum) for every value of the output; left(offset, image) and right(offset, feature) give
/// numbers whose zero points are taken away.
template <class L, class R, class F>
void for_each_sum(const Sizes& s, const UniformConvOptions& o, const Shape& lhs, const Shape& rhs, L&& left, R&& right, F&& f) {
  const Numbers ls = steps_of(lhs, s.at.lhs), rs = steps_of(rhs, s.at.rhs), os = steps_of(s.given, s.at.output);
  const std::size_t n = s.sides.size();
  const std::int64_t per_feature_group = s.rhs[0] / o.feature_groups, per_batch_group = s.rhs[0] / o.batch_groups;
  const std::int64_t positions = s.output.elements(2, s.output.rank()), taps = s.rhs.elements(2, s.rhs.rank());
  for (std::int64_t b = 0; b < s.output[0]; ++b)
    for (std::int64_t c = 0; c < s.output[1]; ++c)
      for (std::int64_t p = 0; p < positions; ++p) {
        const std::int64_t image = c / per_batch_group * s.output[0] + b, first = c / per_feature_group * s.rhs[1];
        std::int64_t sum = 0;
        for (std::int64_t t = 0; t < taps; ++t) {
          std::int64_t from = image * ls[0], tap = c * rs[0], rest_p = p, rest_t = t;
          bool inside = true;
          for (std::size_t i = n; i-- > 0 && inside;) {
            const Side& side = s.sides[i];
            const std::int64_t filter = s.rhs[static_cast<int>(i) + 2], k = rest_t % filter;
            const std::int64_t x = rest_p % side.output * side.stride - side.before + k * side.rhs_dilation;
            rest_p /= side.output;
            rest_t /= filter;
            inside = x >= 0 && x % side.lhs_dilation == 0 && x / side.lhs_dilation < side.input;
            from += x / side.lhs_dilation * ls[i + 2];
            tap += k * rs[i + 2];
          }
          for (std::int64_t q = 0; inside && q < s.rhs[1]; ++q)
            sum += std::int64_t{left(from + (first + q) * ls[1], image)} * right(tap + q * rs[1], c);
        }
        std::int64_t place = b * os[0] + c * os[1], rest = p;
        for (std::size_t i = n; i-- > 0; rest /= s.sides[i].output) place += rest % s.sides[i].output * os[i + 2];
        f(place, c, image, wrapped(sum));
      }
}

/// Scales of `count` features, or one for all.
StatusOr<UniformScales> feature_scales(const In<float>& scales, const In<std::int32_t>& zeros, std::int64_t count) {
  return UniformScales::of(scales, zeros, scales.dims() == 1 ? 0 : -1, Shape{count});
}

Status convolve(Call& call, const In<qint8>& lhs, const In<qint8>& rhs, const UniformScales& l, const In<float>& r_scales,
                const In<std::int32_t>& r_zeros, const In<float>& scales, const In<std::int32_t>& zeros, const UniformConvOptions& options,
                UniformBounds bounds) {
  TRY_ASSIGN(const Sizes s, sizes_of(options, lhs.shape(), rhs.shape()));
  TRY_ASSIGN(const auto r, feature_scales(r_scales, r_zeros, s.rhs[0]));
  if (r_scales.dims() == 0 && scales.dims() != 0)
    return invalid("If rhs is per-tensor quantized, output must be also per-tensor quantized. Given output scales/zero_points of rank {}",
                   scales.dims());
  TRY_ASSIGN(const auto o, feature_scales(scales, zeros, s.rhs[0]));
  qint32* out = call.alloc<qint32>(0, s.given);
  if (s.given.elements() == 0) return absl::OkStatus();
  for_each_sum(
      s, options, lhs.shape(), rhs.shape(), [&](std::int64_t i, std::int64_t) { return wrapped(std::int64_t{lhs[i].value} - l.zero(0)); },
      [&](std::int64_t i, std::int64_t c) { return wrapped(std::int64_t{rhs[i].value} - r.zero(c)); },
      [&](std::int64_t place, std::int64_t c, std::int64_t, std::int32_t sum) {
        const double factor = static_cast<double>(l.scale(0)) * r.scale(c) / o.scale(c);
        out[place].value = restored(bounds.clip(rescaled(sum, 0, factor, o.zero(c))));
      });
  return absl::OkStatus();
}

Status convolve_hybrid(Call& call, const In<float>& lhs, const In<qint8>& rhs, const In<float>& scales, const In<std::int32_t>& zeros,
                       const UniformConvOptions& options) {
  TRY_ASSIGN(const Sizes s, sizes_of(options, lhs.shape(), rhs.shape()));
  TRY_ASSIGN(const auto r, feature_scales(scales, zeros, s.rhs[0]));
  float* out = call.alloc<float>(0, s.given);
  if (s.given.elements() == 0 || lhs.size() == 0) return std::fill_n(out, s.given.elements(), 0.0f), absl::OkStatus();
  // Each image is stored in eight bits with a range of its own.
  const std::int64_t step = steps_of(lhs.shape(), s.at.lhs)[0], images = s.lhs[0];
  const auto image_of = [&](std::int64_t i) { return static_cast<std::size_t>(i / step % images); };
  std::vector<float> least(static_cast<std::size_t>(images), 0), most = least;
  for (std::int64_t i = 0; i < lhs.size(); ++i) {
    least[image_of(i)] = std::min(least[image_of(i)], lhs[i]);
    most[image_of(i)] = std::max(most[image_of(i)], lhs[i]);
  }
  std::vector<DynamicRange> ranges;
  for (std::size_t b = 0; b < least.size(); ++b) ranges.push_back(DynamicRange::of(least[b], most[b]));
  for_each_sum(
      s, options, lhs.shape(), rhs.shape(),
      [&](std::int64_t i, std::int64_t image) {
        const DynamicRange& range = ranges[static_cast<std::size_t>(image)];
        return range.store(lhs[i]) - range.zero;
      },
      [&](std::int64_t i, std::int64_t c) { return wrapped(std::int64_t{rhs[i].value} - r.zero(c)); },
      [&](std::int64_t place, std::int64_t c, std::int64_t image, std::int32_t sum) {
        out[place] = static_cast<float>(sum) * (ranges[static_cast<std::size_t>(image)].scale * r.scale(c));
      });
  return absl::OkStatus();
}

}  // namespace

void add_uniform_conv(Registry& ops) {
  ops.add("UniformQuantizedConvolution",
          [](Call& call, In<qint8> lhs, In<qint8> rhs, In<float> l_scales, In<std::int32_t> l_zeros, In<float> r_scales, In<std::int32_t> r_zeros,
             In<float> scales, In<std::int32_t> zeros, const UniformConvOptions& options, Attr<"output_quantization_min_val", std::int64_t> low,
             Attr<"output_quantization_max_val", std::int64_t> high) -> Status {
            TRY_ASSIGN(const auto l, UniformScales::of(l_scales, l_zeros, -1, lhs.shape()));
            return convolve(call, lhs, rhs, l, r_scales, r_zeros, scales, zeros, options, UniformBounds::of(*low, *high));
          });
  ops.add("UniformQuantizedConvolutionHybrid",
          [](Call& call, In<float> lhs, In<qint8> rhs, In<float> scales, In<std::int32_t> zeros, const UniformConvOptions& options) {
            return convolve_hybrid(call, lhs, rhs, scales, zeros, options);
          });
  ops.cost({"UniformQuantizedConvolution", "UniformQuantizedConvolutionHybrid"}, 1000);
}

}  // namespace troupe
