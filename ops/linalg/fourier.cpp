// Mixed-radix transforms in passes that leave everything in order (Stockham's), and Bluestein's algorithm for the rest.
#include <troupe/ops/linalg/fourier.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe {

namespace {

constexpr std::int64_t largest_prime = 13;

/// Fours first, then what is left, at most the largest prime; nothing where that does not make the length.
std::vector<std::int64_t> small_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (std::int64_t p = 2; p <= largest_prime; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  return n == 1 ? factors : std::vector<std::int64_t>{};
}

std::complex<double> root(std::int64_t k, std::int64_t n, bool inverse) {
  const double angle = (inverse ? 2.0 : -2.0) * M_PI * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// Calls each(part, place) for all places of all parts: the longer of the two loops is the inner one.
template <class F>
inline void for_each_place(std::int64_t parts, std::int64_t step, const F& each) {
  if (step == 1) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < parts; ++j) each(j, 0);
    return;
  }
  for (std::int64_t j = 0; j < parts; ++j)
#pragma GCC ivdep
    for (std::int64_t q = 0; q < step; ++q) each(j, q);
}

}  // namespace

Fourier::Fourier(std::int64_t length, bool inverse) : n_(length), inverse_(inverse) {
  if (n_ <= 1) return;
  std::int64_t rest = n_, step = 1;
  for (std::int64_t p : small_factors(n_)) {
    Pass pass{p, rest / p, step, {}, {}, {}, {}};
    // Inverse transforms run forwards too, with real and imaginary parts exchanged.
    for (std::int64_t k = 1; k < p; ++k)
      for (std::int64_t j = 0; j < pass.parts; ++j) {
        const Complex w = root(j * k, rest, false);
        pass.re.push_back(w.real());
        pass.im.push_back(w.imag());
      }
    for (std::int64_t k = 0; k < p; ++k) {
      pass.radix_re.push_back(root(k, p, false).real());
      pass.radix_im.push_back(root(k, p, false).imag());
    }
    rest /= p;
    step *= p;
    passes_.push_back(std::move(pass));
  }
  if (!passes_.empty()) {
    for (auto* array : {&re_, &im_, &next_re_, &next_im_}) array->resize(static_cast<std::size_t>(n_));
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
  if (passes_.empty()) run_chirp(values);
  else run_passes(values);
}

void Fourier::run_passes(Complex* values) {
  const auto n = static_cast<std::size_t>(n_);
  double *re = inverse_ ? im_.data() : re_.data(), *im = inverse_ ? re_.data() : im_.data();
  for (std::size_t i = 0; i < n; ++i) {
    re[i] = values[i].real();
    im[i] = values[i].imag();
  }
  for (const Pass& pass : passes_) {
    const auto combine = pass.radix == 4 ? combine_four : pass.radix == 2 ? combine_two : combine_any;
    combine(pass, re_.data(), im_.data(), next_re_.data(), next_im_.data());
    re_.swap(next_re_);
    im_.swap(next_im_);
  }
  re = inverse_ ? im_.data() : re_.data(), im = inverse_ ? re_.data() : im_.data();
  for (std::size_t i = 0; i < n; ++i) values[i] = {re[i], im[i]};
}

void Fourier::combine_two(const Pass& pass, const double* re, const double* im, double* to_re, double* to_im) {
  const std::int64_t step = pass.step, far = step * pass.parts;
  const double *wr = pass.re.data(), *wi = pass.im.data();
  for_each_place(pass.parts, step, [=](std::int64_t j, std::int64_t q) {
    const std::int64_t at = q + step * j, to = q + 2 * step * j;
    const double dr = re[at] - re[at + far], di = im[at] - im[at + far];
    to_re[to] = re[at] + re[at + far];
    to_im[to] = im[at] + im[at + far];
    to_re[to + step] = dr * wr[j] - di * wi[j];
    to_im[to + step] = dr * wi[j] + di * wr[j];
  });
}

void Fourier::combine_four(const Pass& pass, const double* re, const double* im, double* to_re, double* to_im) {
  const std::int64_t step = pass.step, parts = pass.parts, far = step * parts;
  const double *w1r = pass.re.data(), *w1i = pass.im.data(), *w2r = w1r + parts, *w2i = w1i + parts, *w3r = w2r + parts, *w3i = w2i + parts;
  for_each_place(parts, step, [=](std::int64_t j, std::int64_t q) {
    const std::int64_t at = q + step * j, to = q + 4 * step * j;
    const double even_r = re[at] + re[at + 2 * far], even_i = im[at] + im[at + 2 * far];
    const double across_r = re[at] - re[at + 2 * far], across_i = im[at] - im[at + 2 * far];
    const double odd_r = re[at + far] + re[at + 3 * far], odd_i = im[at + far] + im[at + 3 * far];
    const double turned_r = im[at + far] - im[at + 3 * far], turned_i = re[at + 3 * far] - re[at + far];
    const double b1r = across_r + turned_r, b1i = across_i + turned_i, b3r = across_r - turned_r, b3i = across_i - turned_i;
    const double b2r = even_r - odd_r, b2i = even_i - odd_i;
    to_re[to] = even_r + odd_r;
    to_im[to] = even_i + odd_i;
    to_re[to + step] = b1r * w1r[j] - b1i * w1i[j];
    to_im[to + step] = b1r * w1i[j] + b1i * w1r[j];
    to_re[to + 2 * step] = b2r * w2r[j] - b2i * w2i[j];
    to_im[to + 2 * step] = b2r * w2i[j] + b2i * w2r[j];
    to_re[to + 3 * step] = b3r * w3r[j] - b3i * w3i[j];
    to_im[to + 3 * step] = b3r * w3i[j] + b3i * w3r[j];
  });
}

void Fourier::combine_any(const Pass& pass, const double* re, const double* im, double* to_re, double* to_im) {
  const std::int64_t step = pass.step, parts = pass.parts, radix = pass.radix, far = step * parts;
  for (std::int64_t k = 0; k < radix; ++k) {
    double turn_r[largest_prime], turn_i[largest_prime];
    for (std::int64_t r = 0; r < radix; ++r) {
      turn_r[r] = pass.radix_re[static_cast<std::size_t>(r * k % radix)];
      turn_i[r] = pass.radix_im[static_cast<std::size_t>(r * k % radix)];
    }
    const std::int64_t roots = k == 0 ? 0 : (k - 1) * parts;
    const double *wr = pass.re.data() + roots, *wi = pass.im.data() + roots;
    for_each_place(parts, step, [&, step, radix, far, k, wr, wi](std::int64_t j, std::int64_t q) {
      const std::int64_t at = q + step * j, to = q + step * (radix * j + k);
      double sum_r = re[at], sum_i = im[at];
      for (std::int64_t r = 1; r < radix; ++r) {
        sum_r += re[at + r * far] * turn_r[r] - im[at + r * far] * turn_i[r];
        sum_i += re[at + r * far] * turn_i[r] + im[at + r * far] * turn_r[r];
      }
      to_re[to] = k == 0 ? sum_r : sum_r * wr[j] - sum_i * wi[j];
      to_im[to] = k == 0 ? sum_i : sum_r * wi[j] + sum_i * wr[j];
    });
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
