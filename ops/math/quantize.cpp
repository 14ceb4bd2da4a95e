// QuantizeV2: floats to quantised integers in three modes.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/slices.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

using quantized = types<qint8, quint8, qint32, qint16, quint16>;

struct Options {
  std::string mode, round_mode;
  bool narrow;
  int axis;
  float minimum_range;
};

struct Range {
  float low, high;
};

template <class T>
using Stored = decltype(T::value);

/// The range holds zero and is not too narrow to divide by.
StatusOr<Range> widened(float low, float high, float minimum) {
  if (low > high) return invalid("input_max_range must be larger than input_min_range.");
  const float bottom = std::min(0.0f, low);
  const float epsilon = std::max(1.0f, std::max(std::abs(low), std::abs(high))) * minimum;
  return Range{bottom, std::max(0.0f, std::max(high, bottom + epsilon))};
}

template <class I>
constexpr float steps() {
  return static_cast<float>(static_cast<double>(std::numeric_limits<I>::max()) - static_cast<double>(std::numeric_limits<I>::lowest()));
}

/// Numbers past the end of 32 bits become the lowest one, as x86 converts them.
template <class I>
I truncated(float x) {
  if (!(x >= -2147483648.0f && x < 2147483648.0f)) return static_cast<I>(std::numeric_limits<std::int32_t>::lowest());
  return static_cast<I>(static_cast<std::int32_t>(x));
}

template <class I>
I combined(float x, const Range& range) {
  const float scale = steps<I>() / (range.high - range.low);
  const float place = (std::max(std::min(x, range.high), range.low) - range.low) * scale;
  if constexpr (std::is_signed_v<I>) return truncated<I>(std::round(place - (steps<I>() + 1) / 2));
  else return truncated<I>(place + 0.5f);
}

template <class I>
I minimum_first(float x, const Range& range) {
  constexpr double count = static_cast<double>(std::uint64_t{1} << (sizeof(I) * 8));
  const float width = (range.high - range.low) * static_cast<float>(count / (count - 1));
  const float scale = width == 0 ? 0 : static_cast<float>(count / width);
  const float lowest = static_cast<float>(std::numeric_limits<I>::lowest());
  const float highest = std::min(static_cast<float>(std::numeric_limits<I>::max()), 2147483520.0f);
  const float place = std::round(x * scale) - (std::round(range.low * scale) - lowest);
  return truncated<I>(std::min(std::max(place, lowest), highest));
}

/// Zero stays zero: one factor for both sides, from the side that needs the smaller. The range becomes what it stands for.
template <class I>
float scaled_factor(Range& range, bool narrow) {
  const float lowest = static_cast<float>(std::numeric_limits<I>::lowest()) + (narrow ? 1.0f : 0.0f);
  const float highest = static_cast<float>(std::numeric_limits<I>::max());
  constexpr float none = std::numeric_limits<float>::max();
  const float from_low = lowest == 0 || range.low == 0 ? none : lowest / range.low;
  const float from_high = range.high == 0 ? none : highest / range.high;
  const float factor = std::min(from_low, from_high);
  range = {lowest / factor, highest / factor};
  return factor;
}

template <class I>
void quantize_run(const float* x, std::int64_t n, const Options& options, const Range& range, float factor, I* out) {
  if (options.mode == "MIN_COMBINED") {
    for (std::int64_t i = 0; i < n; ++i) out[i] = combined<I>(x[i], range);
  } else if (options.mode == "MIN_FIRST") {
    for (std::int64_t i = 0; i < n; ++i) out[i] = minimum_first<I>(x[i], range);
  } else {
    const bool even = options.round_mode == "HALF_TO_EVEN";
    for (std::int64_t i = 0; i < n; ++i) {
      const float place = std::max(std::min(x[i], range.high), range.low) * factor;
      out[i] = truncated<I>(even ? std::nearbyint(place) : std::round(place));
    }
  }
}

Status check_range(const char* name, const In<float>& range, const Shape& shape, int axis) {
  if (axis < 0) {
    if (range.size() == 1) return absl::OkStatus();
    return invalid("If axis is not specified, {} must contain a single float element, but it contains {} elements", name, range.size());
  }
  if (range.dims() == 1 && range.size() == shape.dim(axis)) return absl::OkStatus();
  return invalid(
      "If axis is specified, {0} must be a 1-D tensor whose size matches the axis dimension of the input and output tensors, but {0} is a "
      "{1}-D tensor of size {2} and input's axis dimension is of size {3}",
      name, range.dims(), range.size(), shape.dim(axis));
}

Status check_options(const Options& options) {
  if (options.round_mode == "HALF_TO_EVEN" && options.mode != "SCALED")
    return invalid("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', b  ut mode is '{}'.", options.mode);
  return absl::OkStatus();
}

template <class T>
Status quantize(Call& call, const In<float>& x, const In<float>& low, const In<float>& high, const Options& options) {
  TRY(check_options(options));
  if (options.axis >= x.dims())
    return invalid(
        "Axis is on a zero-based index, so its value must always be less than number of input's dims, but given axis value was {} and "
        "input's dims was {}",
        options.axis, x.dims());
  TRY(check_range("min_range", low, x.shape(), options.axis));
  TRY(check_range("max_range", high, x.shape(), options.axis));
  if (options.axis >= 0 && options.mode == "MIN_FIRST") return unimplemented("MIN_FIRST mode is not implemented for Quantize with axis != -1.");
  using I = Stored<T>;
  const Slices slices = Slices::of(x.shape(), options.axis);
  const Shape range_shape = options.axis < 0 ? Shape{} : Shape{slices.count};
  auto* out = reinterpret_cast<I*>(call.alloc<T>(0, x.shape()));
  float* out_low = call.alloc<float>(1, range_shape);
  float* out_high = call.alloc<float>(2, range_shape);
  for (std::int64_t k = 0; k < slices.count; ++k) {
    TRY_ASSIGN(Range range, widened(low[k], high[k], options.minimum_range));
    const float factor = options.mode == "SCALED" ? scaled_factor<I>(range, options.narrow) : 0;
    slices.for_each_run(k, [&](std::int64_t at, std::int64_t n) { quantize_run<I>(x.data() + at, n, options, range, factor, out + at); });
    out_low[k] = range.low;
    out_high[k] = range.high;
  }
  return absl::OkStatus();
}

}  // namespace

void add_quantize(Registry& ops) {
  ops.add("QuantizeV2",
          [](Call& call, In<float> x, In<float> low, In<float> high, Attr<"T", DType> type, Attr<"mode", std::string> mode,
             Attr<"round_mode", std::string> round_mode, Attr<"narrow_range", bool> narrow, Attr<"axis", std::int64_t> axis,
             Attr<"ensure_minimum_range", float> minimum) -> Status {
            const Options options{mode, round_mode, narrow, static_cast<int>(*axis), minimum};
            Status status = unimplemented("QuantizeV2 to {} is not supported", name_of(type));
            visit_dtype(quantized{}, type, [&]<class T>() { status = quantize<T>(call, x, low, high, options); });
            return status;
          });
}

}  // namespace troupe
