// Numbers stored as integers within a range: what a stored integer means, and how a number is stored.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace troupe {

struct QuantizedRange {
  float low, high;
};

template <class Q>
using StoredAs = decltype(Q::value);

template <class Q>
inline constexpr double quantized_steps = static_cast<double>(std::uint64_t{1} << (8 * sizeof(StoredAs<Q>)));
template <class Q>
inline constexpr std::int64_t lowest_stored = std::numeric_limits<StoredAs<Q>>::lowest();
template <class Q>
inline constexpr std::int64_t highest_stored = std::numeric_limits<StoredAs<Q>>::max();

/// What a number is stored as; may lie outside of the type.
template <class Q>
std::int64_t stored_anywhere(float x, QuantizedRange range) {
  if (range.low == range.high) return lowest_stored<Q>;
  const double adjust = quantized_steps<Q> / (quantized_steps<Q> - 1.0);
  const double scale = quantized_steps<Q> / (static_cast<double>(range.high - range.low) * adjust);
  const double at = std::round(static_cast<double>(x) * scale) - std::round(static_cast<double>(range.low) * scale);
  if (!(std::abs(at) < 9e18)) return 0;
  return static_cast<std::int64_t>(at) + lowest_stored<Q>;
}
template <class Q>
std::int64_t stored(float x, QuantizedRange range) {
  return std::clamp(stored_anywhere<Q>(x, range), lowest_stored<Q>, highest_stored<Q>);
}

/// The number that a stored integer means.
template <class Q>
float meant(std::int64_t stored, QuantizedRange range) {
  if (range.low == range.high) return range.low;
  const double adjust = quantized_steps<Q> / (quantized_steps<Q> - 1.0);
  const double scale = static_cast<double>(range.high - range.low) * adjust / quantized_steps<Q>;
  const double low = std::round(range.low / static_cast<float>(scale)) * static_cast<float>(scale);
  return static_cast<float>(low + static_cast<double>(stored - lowest_stored<Q>) * scale);
}

/// The same for many numbers, in floats throughout.
template <class Q>
class Meaning {
 public:
  explicit Meaning(QuantizedRange range)
      : scale_(static_cast<float>((range.high - range.low) / (quantized_steps<Q> - 1.0))),
        low_(range.high == range.low ? range.low : std::round(range.low / scale_) * scale_) {}
  float operator()(std::int64_t stored) const { return (low_ - static_cast<float>(lowest_stored<Q>) * scale_) + static_cast<float>(stored) * scale_; }

 private:
  float scale_, low_;
};

template <class Q>
class Storing {
 public:
  explicit Storing(QuantizedRange range)
      : scale_(range.high == range.low ? 0.0f : static_cast<float>((quantized_steps<Q> - 1.0) / (range.high - range.low))),
        low_(std::round(range.low * scale_)) {}
  StoredAs<Q> operator()(float x) const {
    const float at = std::round(x * scale_) - (low_ - static_cast<float>(lowest_stored<Q>));
    // The largest float below two to the 31st is the upper bound of 32 bits.
    const float most = sizeof(StoredAs<Q>) == 4 ? 2.147483520e9f : static_cast<float>(highest_stored<Q>);
    const float least = static_cast<float>(lowest_stored<Q>);
    return static_cast<StoredAs<Q>>(static_cast<std::int32_t>(at > least ? (at < most ? at : most) : least));
  }

 private:
  float scale_, low_;
};

/// The range of products of numbers of two ranges.
template <class A, class B, class C>
QuantizedRange range_of_products(QuantizedRange a, QuantizedRange b) {
  const auto level = []<class Q>(QuantizedRange range, Q) {
    return (range.high - range.low) / static_cast<float>(highest_stored<Q> - lowest_stored<Q>);
  };
  const float one = level(a, A{}) * level(b, B{});
  return {one * static_cast<float>(lowest_stored<C>), one * static_cast<float>(highest_stored<C>)};
}

/// A range for sums of numbers of two ranges, with so many bits to spare.
inline QuantizedRange range_of_sums(QuantizedRange a, QuantizedRange b, int bits) {
  const float most = std::max(a.high, std::max(-a.low, std::max(b.high, -b.low))) * static_cast<float>(1 << bits);
  return {-most, most};
}

}  // namespace troupe
