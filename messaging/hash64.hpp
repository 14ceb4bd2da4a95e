// The hash that TensorFlow gives texts: names of frames, types of resources, the oldest of the bucket ops.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace troupe {

/// MurmurHash64A with a seed of its own.
inline std::uint64_t hash64(std::string_view text) {
  constexpr std::uint64_t m = 0xc6a4a7935bd1e995;
  constexpr int r = 47;
  std::uint64_t h = 0xDECAFCAFFE ^ (text.size() * m);
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t k = 0;
    std::memcpy(&k, text.data(), 8);
    k *= m;
    k ^= k >> r;
    k *= m;
    h = (h ^ k) * m;
  }
  if (!text.empty()) {
    std::uint64_t k = 0;
    std::memcpy(&k, text.data(), text.size());
    h = (h ^ k) * m;
  }
  h ^= h >> r;
  h *= m;
  return h ^ (h >> r);
}

}  // namespace troupe
