// Integer arithmetic that wraps round instead of overflowing; floating and complex numbers pass through.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <cstdint>
#include <type_traits>

namespace troupe {

/// The unsigned type in which T is computed: promotion of a narrow unsigned type would make it signed.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

template <class T>
constexpr T wrap_add(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  else return a + b;
}
template <class T>
constexpr T wrap_sub(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  else return a - b;
}
template <class T>
constexpr T wrap_mul(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  else return a * b;
}
template <class T>
constexpr T wrap_neg(const T& a) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
  else return -a;
}

}  // namespace troupe
