// Samples per parameter: the walk that gamma, Poisson and binomial numbers share.
#pragma once

#include <troupe/ops/random/distributions.hpp>
#include <troupe/ops/random/generator.hpp>

#include <cstdint>

namespace troupe {

/// Output has the samples' shape before the parameters'. Each number has a stream of its own, 256 blocks after that of the one before:
/// `sample(parameter, index)` gives the number of a parameter; index counts all samples of the first parameter, then of the second, ….
template <class U, class Sample>
void fill_samples(std::int64_t parameters, std::int64_t samples, U* out, Sample&& sample) {
  for (std::int64_t p = 0; p < parameters; ++p)
    for (std::int64_t s = 0; s < samples; ++s) out[s * parameters + p] = static_cast<U>(sample(p, static_cast<std::uint64_t>(p * samples + s)));
}

/// Uniform numbers of a stream, one by one.
class UniformDraws {
 public:
  explicit UniformDraws(const Philox& stream) : stream_(stream) {}
  double operator()() { return draws_(stream_); }

 private:
  Philox stream_;
  Backwards<Uniform<double>, double> draws_;
};

}  // namespace troupe
