// Where an index goes in a random permutation that is never written down: a small block cipher, walked until it is in range.
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace troupe {
namespace {

/// Simon with words of any size, few rounds and a key of three words.
class Cipher {
 public:
  Cipher(int word_bits, const std::array<std::uint32_t, 3>& key, std::int64_t rounds) : bits_(word_bits), mask_((std::uint64_t{1} << word_bits) - 1) {
    for (std::uint32_t k : key) keys_.push_back(k & mask_);
    std::uint64_t z = 0x7369f885192c0ef5u & mask_;
    for (std::size_t i = 3; i < static_cast<std::size_t>(rounds); ++i, z >>= 1)
      keys_.push_back((0xfffffffcu & mask_) ^ (z & 1) ^ keys_[i - 3] ^ right(keys_[i - 1], 3) ^ right(keys_[i - 1], 4));
  }

  std::uint64_t operator()(std::uint64_t value) const {
    std::uint64_t a = (value >> bits_) & mask_, b = value & mask_;
    for (std::size_t i = 0; i + 1 < keys_.size(); i += 2) {
      a ^= mix(b) ^ keys_[i];
      b ^= mix(a) ^ keys_[i + 1];
    }
    return (a << bits_) | b;
  }

 private:
  std::uint64_t left(std::uint64_t x, int by) const { return ((x << by) | (x >> (bits_ - by))) & mask_; }
  std::uint64_t right(std::uint64_t x, int by) const { return ((x >> by) | (x << (bits_ - by))) & mask_; }
  std::uint64_t mix(std::uint64_t x) const { return (left(x, 1) & left(x, 8)) ^ left(x, 2); }

  int bits_;
  std::uint64_t mask_;
  std::vector<std::uint64_t> keys_;
};

StatusOr<std::uint64_t> shuffled(std::uint64_t index, const std::array<std::uint32_t, 3>& key, std::uint64_t most, std::int64_t rounds) {
  if (most == 0) return 0;
  int bits = static_cast<int>(std::ceil(std::log2(static_cast<double>(most))));
  bits = std::clamp(bits + bits % 2, 16, 64);
  const Cipher cipher(bits / 2, key, rounds);
  const std::uint64_t start = bits == 64 ? index : index & ((std::uint64_t{1} << bits) - 1);
  // An index in range is met again at the latest; one that is not may be on a way that never gets there.
  for (std::uint64_t at = cipher(index);; at = cipher(at)) {
    if (at <= most) return at;
    if (at == start) return invalid("index must be at most max_index, got {} > {}", index, most);
  }
}

Status shuffle(Call& call, const Tensor& index, const Tensor& seed, const Tensor& most, std::int64_t rounds) {
  constexpr std::int64_t most_rounds = 1 << 20;
  const std::int64_t n = std::max({index.size(), most.size(), seed.size() / 3});
  if (index.rank() != 0 && !(index.rank() == 1 && index.dim(0) == n)) return invalid("Index bust be a scalar or vector.");
  if (!(seed.rank() == 1 && seed.dim(0) == 3) && !(seed.rank() == 2 && seed.dim(0) == n && seed.dim(1) == 3))
    return invalid("Seed must be a vector of size [3] or a matrix of size [{}, 3] but got {}.", n, seed.shape());
  if (most.rank() != 0 && !(most.rank() == 1 && most.dim(0) == n))
    return invalid("Maxval must be a scalar or a vector of the same size as index but got {}", most.shape());
  if (rounds < 4 || rounds % 2 != 0 || rounds > most_rounds) return invalid("rounds must be even and at least 4, got {}", rounds);
  const bool one = index.rank() == 0 && seed.rank() == 1 && most.rank() == 0;
  Tensor& out = call.alloc(0, index.dtype(), one ? Shape{} : Shape{n});
  using Integers = types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(seed.size()));
  visit_dtype(Integers{}, seed.dtype(),
              [&]<class S>() { std::ranges::transform(seed.values<S>(), words.begin(), [](S s) { return static_cast<std::uint32_t>(s); }); });
  Status status;
  visit_dtype(Integers{}, index.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto of = [i](const Tensor& t) { return static_cast<std::uint64_t>(t.data<T>()[t.rank() == 0 ? 0 : i]); };
      const std::uint32_t* key = words.data() + (seed.rank() == 1 ? 0 : 3 * i);
      auto at = shuffled(of(index), {key[0], key[1], key[2]}, of(most), rounds);
      status.Update(at.status());
      if (!status.ok()) return;
      out.mutable_data<T>()[i] = static_cast<T>(*at);
    }
  });
  return status;
}

}  // namespace

void add_index_shuffle(Registry& ops) {
  ops.add("RandomIndexShuffle", [](Call& call, Any index, Any seed, Any most, Attr<"rounds", std::int64_t> rounds) {
    return shuffle(call, index.tensor, seed.tensor, most.tensor, rounds);
  });
  ops.cost({"RandomIndexShuffle"}, 300);
}

}  // namespace troupe
