// Rows in random order.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/generator.hpp>

#include <numeric>

namespace troupe {
namespace {

std::vector<std::int64_t> permutation(std::int64_t n, const Philox& stream) {
  PhiloxWords words(stream);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const std::int64_t left = n - i;
    // More rows than a word can count take two words.
    const std::uint64_t word = words();
    const std::uint64_t draw = left > std::int64_t{0xffffffff} ? word | (std::uint64_t{words()} << 32) : word;
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i) + draw % static_cast<std::uint64_t>(left)]);
  }
  return order;
}

void shuffle_rows(Call& call, const Tensor& x, const Philox& stream) {
  const auto order = permutation(x.dim(0), stream);
  const std::int64_t row = x.size() / x.dim(0);
  Tensor& out = call.alloc(0, x.dtype(), x.shape());
  by_storage(x.dtype(), [&]<class S>() {
    const S* from = x.data<S>();
    S* to = out.mutable_data<S>();
    for (std::size_t i = 0; i < order.size(); ++i) std::copy_n(from + order[i] * row, row, to + static_cast<std::int64_t>(i) * row);
  });
}

bool has_one_order(const Tensor& x) { return x.rank() == 0 || x.size() == 0 || x.dim(0) <= 1; }

/// The last row has no choice left.
std::uint64_t blocks_to_shuffle(std::int64_t rows) { return static_cast<std::uint64_t>((rows + 2) / 4); }

}  // namespace

void add_shuffle(Registry& ops) {
  ops.add("RandomShuffle", [](Call& call, Any x, State<Generator> generator) {
    if (has_one_order(x.tensor)) return call.set(0, x.tensor);
    shuffle_rows(call, x.tensor, generator->reserve(blocks_to_shuffle(x->dim(0))));
  });
  ops.add("StatelessShuffle", [](Call& call, Any x, Any key, Any counter, Any alg) -> Status {
    TRY_ASSIGN(Philox stream, stream_of_key(key.tensor, counter.tensor, alg.tensor, 3));
    TRY(check_algorithm(alg.tensor));
    if (has_one_order(x.tensor)) call.set(0, x.tensor);
    else shuffle_rows(call, x.tensor, stream);
    return absl::OkStatus();
  });
}

}  // namespace troupe
