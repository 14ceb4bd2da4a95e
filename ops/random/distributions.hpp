// From a block of random words to a few numbers of a distribution.
#pragma once

#include <troupe/messaging/dtype.hpp>
#include <troupe/ops/random/philox.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

namespace troupe {

/// Numbers in [0, 1) made of the bits of a word as a mantissa.
inline float unit_float(std::uint32_t x) { return std::bit_cast<float>((127u << 23) | (x & 0x7fffffu)) - 1.0f; }
inline double unit_double(std::uint32_t x0, std::uint32_t x1) {
  return std::bit_cast<double>((std::uint64_t{1023} << 52) | (std::uint64_t{x0 & 0xfffffu} << 32) | x1) - 1.0;
}

/// Two normal numbers of two uniform ones.
inline std::array<float, 2> box_muller(std::uint32_t x0, std::uint32_t x1) {
  const float u = std::max(unit_float(x0), 1.0e-7f);
  const float angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(unit_float(x1)));
  const float radius = std::sqrt(-2.0f * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline std::array<double, 2> box_muller(std::uint32_t x0, std::uint32_t x1, std::uint32_t x2, std::uint32_t x3) {
  const double u = std::max(unit_double(x0, x1), 1.0e-7);
  const double angle = 2.0 * std::numbers::pi * unit_double(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

/// How many numbers of type T come of one block.
template <class T>
inline constexpr int per_block = sizeof(T) == 8 ? 2 : 4;
template <class T>
using Numbers = std::array<T, per_block<T>>;

template <class T>
struct Uniform {
  Numbers<T> operator()(const Philox::Block& x) const {
    if constexpr (std::is_same_v<T, double>) {
      return {unit_double(x[0], x[1]), unit_double(x[2], x[3])};
    } else {
      Numbers<T> out;
      for (std::size_t i = 0; i < 4; ++i) out[i] = one(x[i]);
      return out;
    }
  }

 private:
  static T one(std::uint32_t x) {
    if constexpr (std::is_same_v<T, float>) return unit_float(x);
    else if constexpr (std::is_same_v<T, half>)
      return Eigen::numext::bit_cast<half>(static_cast<std::uint16_t>((15u << 10) | (x & 0x3ffu))) - half(1.0f);
    else return Eigen::numext::bit_cast<bfloat16>(static_cast<std::uint16_t>((127u << 7) | (x & 0x7fu))) - bfloat16(1.0f);
  }
};

/// Integers of all bits.
template <class T>
struct FullInt {
  Numbers<T> operator()(const Philox::Block& x) const {
    if constexpr (sizeof(T) == 8) {
      return {static_cast<T>(x[0] | (std::uint64_t{x[1]} << 32)), static_cast<T>(x[2] | (std::uint64_t{x[3]} << 32))};
    } else {
      return {static_cast<T>(x[0]), static_cast<T>(x[1]), static_cast<T>(x[2]), static_cast<T>(x[3])};
    }
  }
};

/// Integers in [low, high); low < high.
template <class T>
struct UniformInt {
  using Bits = std::make_unsigned_t<T>;
  Bits low, range;
  UniformInt(T lo, T hi) : low(static_cast<Bits>(lo)), range(static_cast<Bits>(static_cast<Bits>(hi) - static_cast<Bits>(lo))) {}
  Numbers<T> operator()(const Philox::Block& x) const {
    const auto bits = FullInt<Bits>()(x);
    Numbers<T> out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(low + bits[i] % range);
    return out;
  }
};

template <class T>
struct Normal {
  Numbers<T> operator()(const Philox::Block& x) const {
    if constexpr (std::is_same_v<T, double>) {
      return box_muller(x[0], x[1], x[2], x[3]);
    } else {
      const auto a = box_muller(x[0], x[1]), b = box_muller(x[2], x[3]);
      return {static_cast<T>(a[0]), static_cast<T>(a[1]), static_cast<T>(b[0]), static_cast<T>(b[1])};
    }
  }
};

/// Normal numbers within two standard deviations: as many of a stream as one block would give.
template <class T>
Numbers<T> truncated_normals(const Philox& stream) {
  PhiloxWords words(stream);
  Numbers<T> out;
  std::size_t kept = 0;
  const auto keep = [&](auto z) {
    if (std::abs(z) < 2 && kept < out.size()) out[kept++] = static_cast<T>(z);
  };
  while (kept < out.size()) {
    const std::uint32_t x0 = words(), x1 = words();
    if constexpr (std::is_same_v<T, double>) {
      const std::uint32_t x2 = words(), x3 = words();
      for (double z : box_muller(x0, x1, x2, x3)) keep(z);
    } else {
      for (float z : box_muller(x0, x1)) keep(z);
    }
  }
  return out;
}

/// Fills memory block by block.
template <class T, class Distribution>
void fill_blocks(Philox stream, const Distribution& distribution, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += per_block<T>) {
    const Numbers<T> some = distribution(stream.next());
    std::copy_n(some.begin(), std::min<std::int64_t>(per_block<T>, n - i), out + i);
  }
}

/// A distribution's numbers one by one, each block from its last number to its first.
template <class Distribution, class T>
class Backwards {
 public:
  T operator()(Philox& stream) {
    if (left_ == 0) {
      some_ = Distribution()(stream.next());
      left_ = some_.size();
    }
    return some_[--left_];
  }

 private:
  Numbers<T> some_{};
  std::size_t left_ = 0;
};

}  // namespace troupe
