// Functions of one number that update rules are written with, for every type that training knows.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <Eigen/Core>

#include <cmath>
#include <type_traits>

namespace troupe::training {

using all = types<half, bfloat16, float, double, complex64, complex128>;
using without_bfloat16 = types<half, float, double, complex64, complex128>;

template <class T>
T square(const T& x) {
  return x * x;
}
template <class T>
T root(const T& x) {
  // Eigen's own is an instruction for one number, which keeps compilers from making vectors.
  if constexpr (std::is_floating_point_v<T>) return std::sqrt(x);
  else return Eigen::numext::sqrt(x);
}
template <class T>
T inverse_root(const T& x) {
  return T(1) / root(x);
}
template <class T>
T sign(const T& x) {
  return x == T(0) ? x : x < T(0) ? T(-1) : T(1);
}
template <class T>
T magnitude(const T& x) {
  return Eigen::numext::abs(x);
}
template <class T>
T positive_part(const T& x) {
  return x > T(0) ? x : T(0);
}
template <class T>
T power(const T& x, const T& y) {
  if constexpr (sizeof(T) == 2) return static_cast<T>(std::pow(static_cast<float>(x), static_cast<float>(y)));
  else return std::pow(x, y);
}

}  // namespace troupe::training
