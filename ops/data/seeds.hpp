// Where shuffled passes get their seeds from.
#pragma once

#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/random/generator.hpp>
#include <troupe/ops/resources/store.hpp>

#include <utility>

namespace troupe {

/// Gives every pass seeds of its own, or all the same. Two zeros mean any seeds.
class SeedGenerator final : public Resource {
 public:
  SeedGenerator(std::int64_t seed, std::int64_t seed2, bool reshuffle)
      : seeds_(seed == 0 && seed2 == 0 ? std::pair{any(), any()} : std::pair{seed, seed2}),
        reshuffle_(reshuffle),
        words_(Philox::seeded(static_cast<std::uint64_t>(seeds_.first), static_cast<std::uint64_t>(seeds_.second))) {}
  std::string describe() const override { return "seed generator"; }

  const std::pair<std::int64_t, std::int64_t>& seeds() const { return seeds_; }
  /// From the front, with these seeds.
  void restart(std::pair<std::int64_t, std::int64_t> seeds) {
    seeds_ = seeds;
    words_ = PhiloxWords(Philox::seeded(static_cast<std::uint64_t>(seeds.first), static_cast<std::uint64_t>(seeds.second)));
  }

  std::pair<std::int64_t, std::int64_t> next() {
    if (!reshuffle_) return seeds_;
    const std::int64_t first = words_();
    return {first, words_()};
  }

 private:
  static std::int64_t any() { return static_cast<std::int64_t>(entropy()); }

  std::pair<std::int64_t, std::int64_t> seeds_;
  bool reshuffle_;
  PhiloxWords words_;
};

template <>
struct resource_type<SeedGenerator> {
  static constexpr const char* name = "N10tensorflow4data20SeedGeneratorManagerE";
};

}  // namespace troupe
