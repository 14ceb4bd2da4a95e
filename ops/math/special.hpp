// Special functions in double precision, with TensorFlow's values at the edges of their domains.
#pragma once

namespace troupe::special {

double log_gamma(double x);
double digamma(double x);
double polygamma(double n, double x);
/// Hurwitz' zeta function.
double zeta(double x, double q);
/// The regularised incomplete gamma functions, lower and upper, and the lower one's derivative by a.
double igamma(double a, double x);
double igammac(double a, double x);
double igamma_grad_a(double a, double x);
/// The regularised incomplete beta function.
double betainc(double a, double b, double x);

/// The quantile of the normal distribution.
double ndtri(double p);
double erfinv(double x);

double bessel_i0e(double x);
double bessel_i1e(double x);
double bessel_k0e(double x);
double bessel_k1e(double x);

double dawson(double x);
double exponential_integral(double x);
struct Fresnel {
  double sine, cosine;
};
Fresnel fresnel(double x);
/// Spence's function: the dilogarithm of 1 - x.
double spence(double x);

}  // namespace troupe::special
