// The gamma function's relatives.
#include <troupe/ops/math/special.hpp>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace troupe::special {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// A number and its derivative by a.
struct Dual {
  double value, slope;
};
Dual operator+(Dual x, Dual y) { return {x.value + y.value, x.slope + y.slope}; }
Dual operator-(Dual x, Dual y) { return {x.value - y.value, x.slope - y.slope}; }
Dual operator*(Dual x, Dual y) { return {x.value * y.value, x.slope * y.value + x.value * y.slope}; }
Dual operator/(Dual x, Dual y) { return {x.value / y.value, (x.slope - x.value / y.value * y.slope) / y.value}; }
Dual constant(double x) { return {x, 0}; }

/// x^a e^-x / gamma(a).
Dual gamma_weight(double a, double x) {
  const double value = std::exp(a * std::log(x) - x - log_gamma(a));
  return {value, value * (std::log(x) - digamma(a))};
}

/// The lower function as a power series, good for x below a + 1.
Dual lower_series(double a, double x) {
  Dual denominator{a, 1}, term = constant(1) / denominator, sum = term;
  for (int k = 0; k < 20000; ++k) {
    denominator = denominator + constant(1);
    term = term * constant(x) / denominator;
    sum = sum + term;
    if (term.value <= sum.value * epsilon && std::abs(term.slope) <= std::abs(sum.slope) * epsilon) break;
  }
  return sum * gamma_weight(a, x);
}

/// The upper function as a continued fraction (Lentz), good for x above a + 1.
Dual upper_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  const Dual order{a, 1};
  Dual b = constant(x + 1) - order, c = constant(1 / tiny), d = constant(1) / b, h = d;
  for (int k = 1; k < 20000; ++k) {
    const Dual factor = constant(k) * (order - constant(k));
    b = b + constant(2);
    d = factor * d + b;
    if (std::abs(d.value) < tiny) d.value = tiny;
    c = b + factor / c;
    if (std::abs(c.value) < tiny) c.value = tiny;
    d = constant(1) / d;
    const Dual change = d * c;
    h = h * change;
    if (std::abs(change.value - 1) <= epsilon && std::abs(change.slope) <= epsilon) break;
  }
  return h * gamma_weight(a, x);
}

bool upper_is_better(double a, double x) { return x > 1 && x > a; }

/// B(2k) / (2k)!, the coefficients of the Euler-Maclaurin sum.
constexpr double euler_maclaurin[] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368000.0,
                                      1.0 / 74724249600.0,
                                      -3617.0 / 10670622842880000.0,
                                      43867.0 / 5109094217170944000.0,
                                      -174611.0 / 802857662698291200000.0,
                                      77683.0 / 14101100039391805440000.0};

}  // namespace

double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == -infinity) return nan;
  if (x <= 0) {
    if (x == std::floor(x)) return nan;
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
  }
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  const double y = 1 / (x * x);
  const double tail = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return shift + std::log(x) - 0.5 / x - tail;
}

double zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q) || x < 1) return nan;
  if (x == 1) return infinity;
  if (q <= 0) {
    const bool even = std::fmod(x, 2) == 0;
    if (q == std::floor(q)) return even ? infinity : nan;
    if (x != std::floor(x)) return nan;
  } else if (std::pow(q, -x) == 0) {
    return 0;
  }
  double sum = 0, at = q;
  for (int k = 0; k < 10 || at < 10; ++k, at += 1) {
    sum += std::pow(at, -x);
    if (at > 0 && std::pow(at, -x) < sum * epsilon * 1e-3) return sum;
  }
  double power = std::pow(at, -x), rising = x;
  sum += power * at / (x - 1) + power / 2;
  double scale = power / at;
  for (int k = 0; const double coefficient : euler_maclaurin) {
    const double term = coefficient * rising * scale;
    sum += term;
    if (std::abs(term) < std::abs(sum) * epsilon) break;
    rising *= (x + 2 * k + 1) * (x + 2 * k + 2);
    scale /= at * at;
    ++k;
  }
  return sum;
}

double polygamma(double n, double x) {
  if (!(n >= 0) || n != std::floor(n)) return nan;
  if (n == 0) return digamma(x);
  const double size = std::exp(log_gamma(n + 1)) * zeta(n + 1, x);
  return std::fmod(n, 2) == 0 ? -size : size;
}

double igamma(double a, double x) {
  if (x == 0) return 0;
  if (!(x > 0) || !(a > 0)) return nan;
  if (std::isinf(a)) return 0;
  if (std::isinf(x)) return 1;
  return upper_is_better(a, x) ? 1 - upper_fraction(a, x).value : lower_series(a, x).value;
}

double igammac(double a, double x) {
  if (!(x >= 0) || !(a > 0)) return nan;
  if (x == 0) return 1;
  if (std::isinf(x)) return 0;
  if (std::isinf(a)) return 1;
  return upper_is_better(a, x) ? upper_fraction(a, x).value : 1 - lower_series(a, x).value;
}

double igamma_grad_a(double a, double x) {
  if (x == 0) return 0;
  if (!(x > 0) || !(a > 0)) return nan;
  if (std::isinf(a) || std::isinf(x)) return 0;
  return upper_is_better(a, x) ? -upper_fraction(a, x).slope : lower_series(a, x).slope;
}

double betainc(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || std::isinf(a) || std::isinf(b) || !(x >= 0) || !(x <= 1)) return nan;
  if (x == 0 || x == 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - betainc(b, a, 1 - x);
  constexpr double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double h = d;
  for (int m = 1; m < 20000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double factor : {even, odd}) {
      d = 1 + factor * d;
      c = 1 + factor / c;
      d = 1 / (std::abs(d) < tiny ? tiny : d);
      if (std::abs(c) < tiny) c = tiny;
      change = d * c;
      h *= change;
    }
    if (std::abs(change - 1) <= epsilon) break;
  }
  const double front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(front) * h / a;
}

}  // namespace troupe::special
