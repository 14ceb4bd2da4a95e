// Distributions over the classes [0, range) from which candidates are sampled.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/random/draws.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe {

class ClassSampler {
 public:
  explicit ClassSampler(std::int64_t range) : range_(range) {}
  virtual ~ClassSampler() = default;
  std::int64_t range() const { return range_; }

  virtual std::int64_t sample(Draws& draws) = 0;
  /// Of a class in the range.
  virtual float probability(std::int64_t value) = 0;
  /// Classes with a chance to be sampled at all.
  virtual std::int64_t reachable() const { return range_; }
  /// Classes that were seen.
  virtual void learn(std::span<const std::int64_t>) {}

 private:
  std::int64_t range_;
};

/// A vocabulary's counts, or what they are after distortion, and which part of it is sampled from.
struct FixedUnigrams {
  std::int64_t range = 0;
  float distortion = 1;
  std::int64_t reserved_ids = 0, shards = 1, shard = 0;
};

std::unique_ptr<ClassSampler> uniform_sampler(std::int64_t range);
/// Small classes are likelier: those of a vocabulary sorted by frequency.
std::unique_ptr<ClassSampler> log_uniform_sampler(std::int64_t range);
/// Starts uniform and gets to know how often classes are seen; range fits an int32.
std::unique_ptr<ClassSampler> learning_sampler(std::int64_t range);
/// Of given counts.
StatusOr<std::unique_ptr<ClassSampler>> fixed_sampler(const FixedUnigrams& how, std::span<const float> counts);
/// Of the counts in the last column of a file of comma-separated values.
StatusOr<std::unique_ptr<ClassSampler>> fixed_sampler_of_file(const FixedUnigrams& how, const std::string& file);

}  // namespace troupe
