// Dequantize: quantised integers back to floats in three modes.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/slices.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

using quantized = types<qint8, quint8, qint32, qint16, quint16>;

/// A line: value = (stored + shift) * scale + offset.
struct Line {
  float shift, scale, offset;
};

template <class I>
Line line_of(const std::string& mode, bool narrow, float low, float high) {
  const double lowest = std::numeric_limits<I>::lowest(), highest = std::numeric_limits<I>::max();
  if (mode == "MIN_COMBINED") {
    const float shift = std::is_signed_v<I> ? static_cast<float>((highest - lowest + 1) / 2) : 0;
    return {shift, static_cast<float>((high - low) / (highest - lowest)), low};
  }
  if (mode == "MIN_FIRST") {
    const float scale = static_cast<float>((high - low) / (highest - lowest));
    const float offset = high == low ? low : std::round(low / scale) * scale;
    return {static_cast<float>(-lowest), scale, offset};
  }
  const float from_high = static_cast<float>(high / highest);
  if (!std::is_signed_v<I>) return {0, from_high, 0};
  return {0, std::max(static_cast<float>(low / (lowest + (narrow ? 1 : 0))), from_high), 0};
}

Status check_range(const char* name, const In<float>& range, const Shape& shape, std::int64_t axis) {
  const std::int64_t expected = axis < 0 ? 1 : shape.dim(static_cast<int>(axis));
  if (range.size() == expected) return absl::OkStatus();
  return invalid("{} must have as many elements as input on the dequantization axis ({}), got {}, expected {}", name, axis, range.size(), expected);
}

template <class T, class F>
Status dequantize(Call& call, const In<T>& x, const In<float>& low, const In<float>& high, const std::string& mode, bool narrow, std::int64_t axis) {
  if (axis >= x.dims()) return invalid("Axis must be less than input dimension({}), got {}", x.dims(), axis);
  TRY(check_range("input_min_tensor", low, x.shape(), axis));
  TRY(check_range("input_max_tensor", high, x.shape(), axis));
  if (axis >= 0 && mode == "MIN_FIRST") return unimplemented("MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
  using I = decltype(T::value);
  const Slices slices = Slices::of(x.shape(), static_cast<int>(axis));
  F* out = call.alloc<F>(0, x.shape());
  for (std::int64_t k = 0; k < slices.count; ++k) {
    const Line line = line_of<I>(mode, narrow, low[k], high[k]);
    slices.for_each_run(k, [&](std::int64_t at, std::int64_t n) {
      for (std::int64_t i = at; i < at + n; ++i) out[i] = static_cast<F>((static_cast<float>(x[i].value) + line.shift) * line.scale + line.offset);
    });
  }
  return absl::OkStatus();
}

}  // namespace

void add_dequantize(Registry& ops) {
  ops.add({"Dequantize"}, quantized{},
          []<class T>(Call& call, In<T> x, In<float> low, In<float> high, Attr<"mode", std::string> mode, Attr<"narrow_range", bool> narrow,
                      Attr<"axis", std::int64_t> axis, Attr<"dtype", DType> type) -> Status {
            if (*type == DType::f32) return dequantize<T, float>(call, x, low, high, mode, narrow, axis);
            if (*mode != "MIN_COMBINED") return invalid("When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '{}'", *mode);
            return dequantize<T, bfloat16>(call, x, low, high, mode, narrow, axis);
          });
}

}  // namespace troupe
