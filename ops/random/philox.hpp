// Philox4x32-10: random words as a function of a key and a counter.
#pragma once

#include <array>
#include <cstdint>

namespace troupe {

/// A stream of blocks of four words. A value: a copy goes on from the same place.
class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;

  Philox(Block counter, Key key) : counter_(counter), key_(key) {}
  /// The stream of a pair of seeds.
  static Philox seeded(std::uint64_t seed, std::uint64_t seed2) { return of_words(seed, 0, seed2); }
  /// The stream of a key and the low and high half of a counter.
  static Philox of_words(std::uint64_t key, std::uint64_t low, std::uint64_t high) {
    return Philox({lower(low), upper(low), lower(high), upper(high)}, {lower(key), upper(key)});
  }

  std::uint64_t key() const { return joined(key_[0], key_[1]); }
  std::uint64_t counter_low() const { return joined(counter_[0], counter_[1]); }
  std::uint64_t counter_high() const { return joined(counter_[2], counter_[3]); }

  Block next() {
    Block x = counter_;
    Key k = key_;
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
      x = {upper(b) ^ x[1] ^ k[0], lower(b), upper(a) ^ x[3] ^ k[1], lower(a)};
      k[0] += 0x9E3779B9;
      k[1] += 0xBB67AE85;
    }
    skip(1);
    return x;
  }

  void skip(std::uint64_t blocks) {
    const std::uint64_t low = counter_low() + blocks;
    const std::uint64_t high = counter_high() + (low < blocks ? 1 : 0);
    counter_ = {lower(low), upper(low), lower(high), upper(high)};
  }
  Philox skipped(std::uint64_t blocks) const {
    Philox later = *this;
    later.skip(blocks);
    return later;
  }

 private:
  static std::uint32_t lower(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t upper(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
  static std::uint64_t joined(std::uint32_t low, std::uint32_t high) { return low | (std::uint64_t{high} << 32); }

  Block counter_;
  Key key_;
};

/// The words of a stream one by one.
class PhiloxWords {
 public:
  explicit PhiloxWords(const Philox& stream) : stream_(stream) {}
  std::uint32_t operator()() {
    if (used_ == 4) {
      block_ = stream_.next();
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  Philox stream_;
  Philox::Block block_{};
  std::size_t used_ = 4;
};

}  // namespace troupe
