// Where random streams come from: a kernel's own seeds, a pair of seeds given as input, or a key and a counter.
#pragma once

#include <troupe/ops/binding.hpp>
#include <troupe/ops/random/philox.hpp>

#include <cstdint>

namespace troupe {

/// Blocks set aside per number of an output, whatever is used of them.
inline constexpr std::uint64_t blocks_per_number = 256;

/// The stream that a kernel with the attributes seed and seed2 goes on with from step to step.
class Generator {
 public:
  static StatusOr<Generator> make(Binding& binding);

  /// The stream from here on; the next call starts `blocks` later.
  Philox reserve(std::uint64_t blocks) {
    const Philox here = stream_;
    stream_.skip(blocks);
    return here;
  }
  Philox reserve_for(std::int64_t numbers) { return reserve(blocks_per_number * static_cast<std::uint64_t>(numbers)); }

 private:
  explicit Generator(Philox stream) : stream_(stream) {}
  Philox stream_;
};

/// 64 bits from the system's source of randomness.
std::uint64_t entropy();

/// The stream of a vector of two seeds, scrambled as stateless ops do.
StatusOr<Philox> stream_of_seed(const Tensor& seed);
/// The stream of inputs key, counter and alg, the last at position `alg_index`. Whether there is such an algorithm is asked last, see below.
StatusOr<Philox> stream_of_key(const Tensor& key, const Tensor& counter, const Tensor& alg, int alg_index);
/// Refuses an algorithm other than Philox; after stream_of_key, and only where numbers are wanted.
Status check_algorithm(const Tensor& alg);

/// A shape given as a vector of integers.
StatusOr<Shape> shape_input(const Tensor& shape);

/// Kinds of numbers that need no parameters.
enum class Fill { uniform, normal, truncated_normal, full_int };
void fill_random(Fill kind, const Philox& stream, Tensor& out);
/// Integers in [low, high), both scalars; the output is not empty.
Status fill_random_ints(const Philox& stream, const Tensor& low, const Tensor& high, Tensor& out);

}  // namespace troupe
