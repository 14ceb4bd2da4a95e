// Mixed-radix transforms, and Bluestein's algorithm for the rest.
#include <troupe/ops/linalg/fourier.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

constexpr std::int64_t largest_prime = 13;

std::vector<std::int64_t> small_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (std::int64_t p = 2; p <= largest_prime; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  return n == 1 ? factors : std::vector<std::int64_t>{};
}

std::complex<double> root(std::int64_t k, std::int64_t n, bool inverse) {
  const double angle = (inverse ? 2.0 : -2.0) * M_PI * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

Fourier::Fourier(std::int64_t length, bool inverse) : n_(length) {
  if (n_ <= 1) return;
  factors_ = small_factors(n_);
  if (!factors_.empty()) {
    for (std::int64_t k = 0; k < n_; ++k) roots_.push_back(root(k, n_, inverse));
    work_.resize(static_cast<std::size_t>(n_));
    return;
  }
  std::int64_t padded = 1;
  while (padded < 2 * n_ - 1) padded *= 2;
  spectrum_.assign(static_cast<std::size_t>(padded), 0);
  for (std::int64_t k = 0; k < n_; ++k) {
    // k squared modulo 2n keeps the angle small, and so exact.
    const auto square =
        static_cast<std::int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) % static_cast<unsigned __int128>(2 * n_));
    const Complex c = root(square, 2 * n_, inverse);
    chirp_.push_back(c);
    spectrum_[static_cast<std::size_t>(k)] = std::conj(c);
    if (k > 0) spectrum_[static_cast<std::size_t>(padded - k)] = std::conj(c);
  }
  inner_.emplace_back(padded, false);
  inner_.emplace_back(padded, true);
  inner_[0].run(spectrum_.data());
  work_.resize(static_cast<std::size_t>(padded));
}

void Fourier::run(Complex* values) {
  if (n_ <= 1) return;
  if (factors_.empty()) return run_chirp(values);
  split(values, 1, work_.data(), n_, 0);
  std::copy(work_.begin(), work_.end(), values);
}

/// Transforms every step-th value into out: first the parts of each residue, then their combination.
void Fourier::split(const Complex* in, std::int64_t step, Complex* out, std::int64_t n, std::size_t factor) {
  if (n == 1) {
    *out = *in;
    return;
  }
  const std::int64_t p = factors_[factor], m = n / p, turn = n_ / n;
  for (std::int64_t r = 0; r < p; ++r) split(in + r * step, step * p, out + r * m, m, factor + 1);
  Complex parts[largest_prime];
  for (std::int64_t k = 0; k < m; ++k) {
    for (std::int64_t r = 0; r < p; ++r) parts[r] = out[r * m + k] * roots_[static_cast<std::size_t>(r * k * turn)];
    for (std::int64_t q = 0; q < p; ++q) {
      Complex sum = parts[0];
      for (std::int64_t r = 1; r < p; ++r) sum += parts[r] * roots_[static_cast<std::size_t>(q * r % p * (n_ / p))];
      out[q * m + k] = sum;
    }
  }
}

void Fourier::run_chirp(Complex* values) {
  std::fill(work_.begin(), work_.end(), Complex(0));
  for (std::size_t k = 0; k < chirp_.size(); ++k) work_[k] = values[k] * chirp_[k];
  inner_[0].run(work_.data());
  for (std::size_t k = 0; k < work_.size(); ++k) work_[k] *= spectrum_[k];
  inner_[1].run(work_.data());
  const double scale = 1 / static_cast<double>(work_.size());
  for (std::size_t k = 0; k < chirp_.size(); ++k) values[k] = work_[k] * chirp_[k] * scale;
}

}  // namespace troupe
