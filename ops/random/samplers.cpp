// The distributions over classes: uniform, log-uniform, learned and fixed.
#include <troupe/ops/random/samplers.hpp>

#include <troupe/ops/strings/numbers.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

namespace troupe {
namespace {

class UniformClasses final : public ClassSampler {
 public:
  explicit UniformClasses(std::int64_t range) : ClassSampler(range), each_(static_cast<float>(1.0 / static_cast<double>(range))) {}
  std::int64_t sample(Draws& draws) override { return static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(range()))); }
  float probability(std::int64_t) override { return each_; }

 private:
  float each_;
};

class LogUniformClasses final : public ClassSampler {
 public:
  explicit LogUniformClasses(std::int64_t range) : ClassSampler(range), log_range_(std::log1p(static_cast<double>(range))) {}
  std::int64_t sample(Draws& draws) override {
    // Rounding may lead to the end of the range.
    return (static_cast<std::int64_t>(std::exp(draws.unit_of_two_words() * log_range_)) - 1) % range();
  }
  float probability(std::int64_t value) override {
    const auto v = static_cast<double>(value);
    return static_cast<float>(std::log((v + 2.0) / (v + 1.0)) / log_range_);
  }

 private:
  double log_range_;
};

/// Weights as a tree of partial sums (Fenwick's): picking and counting take as many steps as the range has bits.
class LearnedClasses final : public ClassSampler {
 public:
  explicit LearnedClasses(std::int64_t range) : ClassSampler(range), total_(static_cast<std::int32_t>(range)) {}

  std::int64_t sample(Draws& draws) override {
    std::int32_t* sums = grown();
    auto left = static_cast<std::int32_t>(draws.below(static_cast<std::uint32_t>(total_)));
    std::int64_t at = 0;
    for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(range()))); step > 0; step /= 2) {
      if (at + step > range() || sums[at + step] > left) continue;
      at += step;
      left -= sums[at];
    }
    return at;
  }
  float probability(std::int64_t value) override { return static_cast<float>(sum_to(value + 1) - sum_to(value)) / static_cast<float>(total_); }
  void learn(std::span<const std::int64_t> seen) override {
    std::int32_t* sums = grown();
    for (std::int64_t value : seen) {
      if (total_ == std::numeric_limits<std::int32_t>::max()) return;
      ++total_;
      for (std::int64_t at = value + 1; at <= range(); at += at & -at) ++sums[at];
    }
  }

 private:
  /// Memory comes with the first use, where a lack of it is reported as any kernel's.
  std::int32_t* grown() {
    if (!sums_.valid()) {
      Tensor fresh(DType::i32, Shape{range() + 1});
      for (std::int64_t at = 0; at <= range(); ++at) fresh.mutable_data<std::int32_t>()[at] = static_cast<std::int32_t>(at & -at);
      sums_ = std::move(fresh);
    }
    return sums_.mutable_data<std::int32_t>();
  }
  std::int32_t sum_to(std::int64_t end) {
    const std::int32_t* sums = grown();
    std::int32_t sum = 0;
    for (std::int64_t at = end; at > 0; at -= at & -at) sum += sums[at];
    return sum;
  }

  Tensor sums_;
  std::int32_t total_;
};

/// Walker's alias method: each class keeps its place with some probability and gives it to one other class otherwise.
class FixedClasses final : public ClassSampler {
 public:
  FixedClasses(std::vector<float> weights, float total)
      : ClassSampler(static_cast<std::int64_t>(weights.size())), weights_(std::move(weights)), total_(total) {
    const std::size_t n = weights_.size();
    double sum = 0;
    for (float w : weights_) sum += static_cast<double>(w);
    std::vector<double> share(n);
    std::vector<std::uint32_t> high, low;
    const auto sort_in = [&](std::size_t i) { (share[i] < 1.0 ? low : high).push_back(static_cast<std::uint32_t>(i)); };
    for (std::size_t i = 0; i < n; ++i) {
      share[i] = static_cast<double>(weights_[i] * static_cast<float>(n)) / sum;
      sort_in(i);
    }
    places_.resize(n);
    while (!high.empty() && !low.empty()) {
      const std::uint32_t small = low.back(), large = high.back();
      low.pop_back();
      high.pop_back();
      places_[small].other = large;
      share[large] -= 1.0 - share[small];
      sort_in(large);
    }
    for (std::size_t i = 0; i < n; ++i) places_[i].keeps = static_cast<float>(share[i]);
    // What is left is there for rounding alone.
    for (const auto* rest : {&high, &low})
      for (std::uint32_t i : *rest) places_[i] = {1.0f, i};
  }

  std::int64_t sample(Draws& draws) override {
    const float r = draws.unit();
    const std::uint32_t at = draws.below(static_cast<std::uint32_t>(places_.size()));
    return r < places_[at].keeps ? at : places_[at].other;
  }
  float probability(std::int64_t value) override { return weights_[static_cast<std::size_t>(value)] / total_; }
  std::int64_t reachable() const override {
    return std::ranges::count_if(weights_, [](float w) { return !(w == 0); });
  }

 private:
  struct Place {
    float keeps = 0;
    std::uint32_t other = 0;
  };
  std::vector<float> weights_;
  float total_;
  std::vector<Place> places_;
};

/// Ids [0, n) that belong to a shard.
std::int64_t reserved_in_shard(const FixedUnigrams& how) {
  const std::int64_t n = std::max<std::int64_t>(how.reserved_ids, 0);
  return n / how.shards + (how.shard < n % how.shards ? 1 : 0);
}

}  // namespace

std::unique_ptr<ClassSampler> uniform_sampler(std::int64_t range) { return std::make_unique<UniformClasses>(range); }
std::unique_ptr<ClassSampler> log_uniform_sampler(std::int64_t range) { return std::make_unique<LogUniformClasses>(range); }
std::unique_ptr<ClassSampler> learning_sampler(std::int64_t range) { return std::make_unique<LearnedClasses>(range); }

StatusOr<std::unique_ptr<ClassSampler>> fixed_sampler(const FixedUnigrams& how, std::span<const float> counts) {
  constexpr std::int64_t most = std::int64_t{1} << 28;
  const std::int64_t reserved = reserved_in_shard(how);
  std::vector<float> kept;
  float total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    // Ids go on from the number of reserved ones of this shard.
    if ((reserved + static_cast<std::int64_t>(i)) % how.shards != how.shard) continue;
    kept.push_back(std::pow(counts[i], how.distortion));
    total += kept.back();
  }
  const std::int64_t size = reserved + static_cast<std::int64_t>(kept.size());
  if (size != how.range) return invalid("range is {} must be equal to weights size  {}", how.range, size);
  if (size > most) return resource_exhausted("a vocabulary of {} classes is too large", size);
  kept.insert(kept.begin(), static_cast<std::size_t>(reserved), 0.0f);
  return std::make_unique<FixedClasses>(std::move(kept), total);
}

StatusOr<std::unique_ptr<ClassSampler>> fixed_sampler_of_file(const FixedUnigrams& how, const std::string& file) {
  std::ifstream in(file);
  if (!in) return not_found("{}; {}", file, std::strerror(errno));
  std::vector<float> counts;
  const std::int64_t reserved = reserved_in_shard(how);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::int64_t id = reserved + static_cast<std::int64_t>(counts.size());
    counts.push_back(0);
    if (id % how.shards != how.shard) continue;
    const auto count = parse_float<float>(std::string_view(line).substr(line.rfind(',') + 1));
    if (!count) return invalid("Wrong vocabulary format at line: {}", line);
    counts.back() = *count;
  }
  return fixed_sampler(how, counts);
}

}  // namespace troupe
