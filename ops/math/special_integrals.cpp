// Integrals without an elementary form: Dawson's, the exponential one, Fresnel's and Spence's.
#include <troupe/ops/math/special.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace troupe::special {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double pi = std::numbers::pi;

/// The integrals up to x >= 0 as power series.
Fresnel fresnel_series(double x) {
  const double z = pi / 2 * x * x;
  double sine = 0, cosine = 0, term = x;
  for (int k = 0; k < 200 && std::abs(term) > epsilon * 1e-3 * x; ++k) {
    const double part = term / (2 * k + 1) * (k / 2 % 2 == 0 ? 1 : -1);
    (k % 2 == 0 ? cosine : sine) += part;
    term *= z / (k + 1);
  }
  return {sine, cosine};
}

/// From the complementary error function of a complex number, as a continued fraction (Lentz).
Fresnel fresnel_fraction(double x) {
  using Complex = std::complex<double>;
  constexpr double tiny = 1e-300;
  const double z = pi * x * x;
  Complex b(1, -z), c = 1 / tiny, d = 1.0 / b, h = d;
  for (int k = 1; k < 500; ++k) {
    const double n = 2 * k - 1;
    const double a = -n * (n + 1);
    b += 4;
    d = 1.0 / (a * d + b);
    c = b + a / c;
    const Complex change = c * d;
    h *= change;
    if (std::abs(change.real() - 1) + std::abs(change.imag()) < epsilon) break;
  }
  h *= Complex(x, -x);
  const Complex both = Complex(0.5, 0.5) * (1.0 - Complex(std::cos(z / 2), std::sin(z / 2)) * h);
  return {both.imag(), both.real()};
}

/// The dilogarithm of x in [-1, 0.5].
double dilogarithm(double x) {
  double power = 1, sum = 0;
  // In y = -log(1 - x) the series has only Bernoulli numbers and converges fast.
  const double y = -std::log1p(-x), y2 = y * y;
  constexpr double bernoulli[] = {1.0 / 36,
                                  -1.0 / 3600,
                                  1.0 / 211680,
                                  -1.0 / 10886400,
                                  1.0 / 526901760,
                                  -691.0 / 16999766784000.0,
                                  1.0 / 1120863744000.0,
                                  -3617.0 / 181400588328960000.0,
                                  43867.0 / 97072790126247936000.0,
                                  -174611.0 / 16860010916664115200000.0};
  for (const double c : bernoulli) sum += c * (power *= y2);
  return y - y2 / 4 + y * sum;
}

}  // namespace

double dawson(double x) {
  const double size = std::abs(x);
  if (size > 1e8) return 0.5 / x;
  if (size < 0.3) {
    double term = x, sum = x;
    for (int k = 1; std::abs(term) > epsilon * std::abs(sum); ++k) sum += term *= -2 * x * x / (2 * k + 1);
    return sum;
  }
  // Rybicki's sampling of the integrand; the error is about exp(-(pi / 2h)^2).
  constexpr double h = 0.2;
  const double nearest = 2 * std::round(size / (2 * h)), rest = size - nearest * h;
  double sum = 0;
  for (int n = -65; n <= 65; n += 2) sum += std::exp(-(rest - n * h) * (rest - n * h)) / (n + nearest);
  return std::copysign(sum / std::sqrt(pi), x);
}

double exponential_integral(double x) {
  if (std::isinf(x) || !(x >= 0)) return nan;
  if (x == 0) return -infinity;
  double term = 1, sum = 0;
  if (x < 50) {
    for (int k = 1; k < 500; ++k) {
      term *= x / k;
      sum += term / k;
      if (term / k < sum * epsilon) break;
    }
    return std::numbers::egamma + std::log(x) + sum;
  }
  sum = 1;
  for (int k = 1; k < x && term > epsilon; ++k) sum += term *= k / x;
  return std::exp(x) / x * sum;
}

Fresnel fresnel(double x) {
  if (std::isnan(x)) return {x, x};
  const double size = std::abs(x);
  Fresnel f = std::isinf(x) || size > 1e8 ? Fresnel{0.5, 0.5} : size < 1.6 ? fresnel_series(size) : fresnel_fraction(size);
  return {std::copysign(f.sine, x), std::copysign(f.cosine, x)};
}

double spence(double x) {
  if (std::isinf(x) || !(x >= 0)) return nan;
  if (x == 0) return pi * pi / 6;
  if (x < 0.5) return pi * pi / 6 - std::log(x) * std::log1p(-x) - dilogarithm(x);
  if (x <= 2) return dilogarithm(1 - x);
  // Inversion brings arguments below -1 back into range.
  const double l = std::log(x - 1);
  return -pi * pi / 6 - l * l / 2 - dilogarithm(1 / (1 - x));
}

}  // namespace troupe::special
