// The greater and the lesser of two numbers, NaN winning.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <limits>

namespace troupe {

/// y where it is greater or NaN; x otherwise, a NaN in it included.
template <class T>
T greater_of(const T& x, const T& y) {
  if constexpr (is_floating<T>) return x < y || y != y ? y : x;
  else return x < y ? y : x;
}
template <class T>
T lesser_of(const T& x, const T& y) {
  if constexpr (is_floating<T>) return y < x || y != y ? y : x;
  else return y < x ? y : x;
}

/// What is below (above) every value: an infinity where there is one.
template <class T>
T lowest_of() {
  if constexpr (is_floating<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::lowest();
}
template <class T>
T highest_of() {
  if constexpr (is_floating<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}

}  // namespace troupe
