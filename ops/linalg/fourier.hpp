// Discrete Fourier transforms of one dimension, of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace troupe {

/// A transform of one length, prepared once. Computes in double precision; not scaled.
class Fourier {
 public:
  Fourier(std::int64_t length, bool inverse);

  std::int64_t length() const { return n_; }
  /// Transforms `length` values in place.
  void run(std::complex<double>* values);

 private:
  using Complex = std::complex<double>;

  /// A pass over all values that turns lines of `radix * parts` values, of which `step` lie side by side, into `radix` times as many.
  struct Pass {
    std::int64_t radix, parts, step;
    std::vector<double> re, im;              // the roots by which results are turned: those of all parts for each result but the first
    std::vector<double> radix_re, radix_im;  // the roots of the radix
  };

  void run_passes(Complex* values);
  void run_chirp(Complex* values);

  std::int64_t n_;
  bool inverse_;
  std::vector<Pass> passes_;  // none where the length has a large prime factor
  std::vector<double> re_, im_, next_re_, next_im_;
  // For a length with a large prime factor: Bluestein's convolution with a chirp.
  std::vector<Complex> chirp_, spectrum_, work_;
  std::vector<Fourier> inner_;

  static void combine_two(const Pass& pass, const double* re, const double* im, double* to_re, double* to_im);
  static void combine_four(const Pass& pass, const double* re, const double* im, double* to_re, double* to_im);
  static void combine_any(const Pass& pass, const double* re, const double* im, double* to_re, double* to_im);
};

}  // namespace troupe
