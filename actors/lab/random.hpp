// Random numbers that are the same everywhere: a stream is named by numbers and needs no other state.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace troupe::lab {

/// SplitMix64. Streams with different names are independent of each other, so that one experiment does not disturb another's draws.
class Random {
 public:
  explicit Random(std::initializer_list<std::uint64_t> name) {
    for (std::uint64_t part : name) {
      state_ ^= part;
      state_ = next();
    }
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  std::uint64_t below(std::uint64_t limit) { return static_cast<std::uint64_t>(unit() * static_cast<double>(limit)); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log1p(-unit())), angle = 2 * M_PI * unit();
    return radius * std::cos(angle);
  }

 private:
  std::uint64_t state_ = 0x5851f42d4c957f2d;
};

}  // namespace troupe::lab
