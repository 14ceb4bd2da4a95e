// Integers that stand for numbers by a scale and a zero point, of a whole tensor or for each index along an axis.
#pragma once

#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {

struct UniformScales {
  const float* scales;
  const std::int32_t* zeros;
  std::int64_t inner = 1, count = 1;  // element i of the tensor has scale i / inner % count

  std::int64_t at(std::int64_t i) const { return count == 1 ? 0 : i / inner % count; }
  float scale(std::int64_t i) const { return scales[at(i)]; }
  std::int32_t zero(std::int64_t i) const { return zeros[at(i)]; }

  /// Those of a tensor of this shape; axis -1 is one for all.
  static StatusOr<UniformScales> of(const In<float>& scales, const In<std::int32_t>& zeros, std::int64_t axis, const Shape& shape) {
    if (scales.shape() != zeros.shape())
      return invalid("scales and zero_points shape must be same, but given scales shape {} and zero_points shape {}", scales.shape(), zeros.shape());
    if (axis < -1 || axis >= shape.rank()) return invalid("quantization_axis must be -1 or in range [0, input.rank), but given {}", axis);
    if (axis == -1) {
      if (scales.dims() != 0)
        return invalid(
            "If quantization_axis is -1, scales and zero_points must be scalar tensors, but given scales shape {} and zero_points shape {}",
            scales.shape(), zeros.shape());
      return UniformScales{scales.data(), zeros.data()};
    }
    const int at = static_cast<int>(axis);
    if (scales.dims() != 1 || scales.size() != shape[at])
      return invalid(
          "If quantization_axis is not -1, scales and zero_points must be a tensor of rank 1 and the size must be equal to the "
          "input.dim_size(quantization_axis), but given quantization_axis {}, scales shape {} and zero_points shape {}",
          axis, scales.shape(), zeros.shape());
    return UniformScales{scales.data(), zeros.data(), shape.elements(at + 1, shape.rank()), std::max<std::int64_t>(1, shape[at])};
  }
};

/// The bounds of stored integers.
struct UniformBounds {
  std::int32_t low, high;
  std::int32_t clip(std::int32_t x) const { return std::min(std::max(x, low), high); }
  static UniformBounds of(std::int64_t low, std::int64_t high) {
    const auto narrow = [](std::int64_t v) {
      return static_cast<std::int32_t>(
          std::clamp<std::int64_t>(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
    };
    return {narrow(low), narrow(high)};
  }
};

/// A float as an integer: what does not fit is the lowest one, as processors have it.
inline std::int32_t truncated(float x) {
  return x >= -2147483648.0f && x < 2147483648.0f ? static_cast<std::int32_t>(x) : std::numeric_limits<std::int32_t>::min();
}
/// Sums and differences go around at their ends.
inline std::int32_t wrapped(std::int64_t x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); }
/// The nearest integer, halves upwards.
inline std::int32_t nearest(float x) { return truncated(std::floor(x + 0.5f)); }
/// A stored integer in arithmetic: those of 32 bits pass through a float.
inline std::int32_t unstored(std::int8_t x) { return x; }
inline std::int32_t unstored(std::int32_t x) { return truncated(static_cast<float>(x)); }

/// What is stored of a result.
inline std::int32_t restored(std::int32_t x) { return truncated(static_cast<float>(x)); }

/// A factor as an integer of 31 bits and a shift; products are rounded, halves upwards.
class FixedFactor {
 public:
  explicit FixedFactor(double factor) {
    int exponent = 0;
    const double share = std::frexp(factor, &exponent);
    if (!(share > 0)) return;
    auto fixed = static_cast<std::int64_t>(std::round(share * 2147483648.0));
    if (fixed == std::int64_t{1} << 31) fixed /= 2, ++exponent;
    if (exponent < -31) return;
    fixed_ = exponent > 30 ? std::numeric_limits<std::int32_t>::max() : fixed;
    shift_ = 31 - std::min(exponent, 30);
  }
  std::int32_t operator()(std::int32_t x) const {
    const std::int64_t product = (x * fixed_ + (std::int64_t{1} << (shift_ - 1))) >> shift_;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(product, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }

 private:
  std::int64_t fixed_ = 0;
  int shift_ = 31;
};

/// A stored integer under another scale.
inline std::int32_t rescaled(std::int32_t x, std::int32_t zero, double factor, std::int32_t new_zero) {
  return wrapped(std::int64_t{FixedFactor(factor)(wrapped(std::int64_t{x} - zero))} + new_zero);
}

/// Floats of one batch stored in eight bits, with a range of their own.
struct DynamicRange {
  float scale = 1;
  std::int32_t zero = 0;

  /// For values between these.
  static DynamicRange of(float low, float high);
  std::int32_t store(float x) const { return std::clamp<std::int32_t>(wrapped(std::int64_t{nearest(x * (1.0f / scale))} + zero), -128, 127); }
};

}  // namespace troupe
