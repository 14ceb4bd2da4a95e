// Single numbers of a stream, one after another, as samplers and clustering take them.
#pragma once

#include <troupe/ops/random/distributions.hpp>

#include <concepts>
#include <cstdint>
#include <limits>

namespace troupe {

class Draws {
 public:
  explicit Draws(const Philox& stream) : words_(stream) {}

  /// In [0, 1).
  float unit() { return unit_float(words_()); }
  double unit_of_two_words() {
    const std::uint32_t first = words_();
    return unit_double(first, words_());
  }
  /// In [0, n), all alike; n > 0.
  template <std::unsigned_integral U>
  U below(U n) {
    if ((n & (n - 1)) == 0) return all_bits<U>() & (n - 1);
    // Numbers below this one would make small results more likely.
    const U rejected = std::numeric_limits<U>::max() % n + 1;
    U x = all_bits<U>();
    while (x < rejected) x = all_bits<U>();
    return x % n;
  }

 private:
  template <class U>
  U all_bits() {
    const U low = words_();
    if constexpr (sizeof(U) == 8) return low | (U{words_()} << 32);
    else return low;
  }

  PhiloxWords words_;
};

}  // namespace troupe
