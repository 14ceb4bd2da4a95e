// Modified Bessel functions of the orders 0 and 1, scaled by exponentials.
#include <troupe/ops/math/special.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace troupe::special {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// I of |x|, times e^-|x|: a power series, or the asymptotic one where that has converged.
double scaled_i(int order, double x) {
  if (std::isinf(x)) return 0;
  if (x < 30) {
    double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; term > sum * epsilon; ++k) sum += term *= x * x / 4 / (k * (k + order));
    return sum * std::exp(-x);
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 30 && std::abs(term) > epsilon; ++k) sum += term *= -(4.0 * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
  return sum / std::sqrt(2 * std::numbers::pi * x);
}

/// K of x, times e^x: the integral of exp(-x (cosh t - 1)) cosh(order t), which the trapezoidal rule gives to full precision.
double scaled_k(int order, double x) {
  constexpr double step = 0.125;
  double sum = 0.5;
  for (int k = 1; k < 4000; ++k) {
    const double t = k * step;
    const double half_sine = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half_sine * half_sine) * (order == 0 ? 1 : std::cosh(t));
    sum += term;
    if (term < sum * epsilon * 0.01) break;
  }
  return sum * step;
}

double small_k0(double x) {
  constexpr double gamma = std::numbers::egamma;
  double term = 1, harmonic = 0, sum = -(std::log(x / 2) + gamma);
  const double log_part = sum;
  for (int k = 1; k < 30; ++k) {
    term *= x * x / 4 / (k * k);
    harmonic += 1.0 / k;
    sum += term * (log_part + harmonic);
  }
  return sum;
}

double small_k1(double x) {
  // The Wronskian: I0 K1 + I1 K0 = 1 / x.
  const double scale = std::exp(x);
  return (1 / x - scaled_i(1, x) * scale * small_k0(x)) / (scaled_i(0, x) * scale);
}

}  // namespace

double bessel_i0e(double x) { return std::isnan(x) ? x : scaled_i(0, std::abs(x)); }
double bessel_i1e(double x) { return std::isnan(x) ? x : std::copysign(scaled_i(1, std::abs(x)), x); }

double bessel_k0e(double x) {
  if (std::isnan(x)) return x;
  if (x <= 0) return std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return 0;
  return x < 1 ? small_k0(x) * std::exp(x) : scaled_k(0, x);
}

double bessel_k1e(double x) {
  if (std::isnan(x)) return x;
  if (x <= 0) return std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return 0;
  return x < 1 ? small_k1(x) * std::exp(x) : scaled_k(1, x);
}

}  // namespace troupe::special
