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

  void split(const Complex* in, std::int64_t step, Complex* out, std::int64_t n, std::size_t factor);
  void run_chirp(Complex* values);

  std::int64_t n_;
  std::vector<std::int64_t> factors_;  // small primes, or empty where the length has a large one
  std::vector<Complex> roots_, work_;
  // For a length with a large prime factor: Bluestein's convolution with a chirp.
  std::vector<Complex> chirp_, spectrum_;
  std::vector<Fourier> inner_;
};

}  // namespace troupe
