// Seeds, keys and the filling of whole tensors.
#include <troupe/ops/random/generator.hpp>

#include <troupe/ops/random/distributions.hpp>

#include <random>

namespace troupe {
namespace {

template <class T>
void fill_truncated(const Philox& stream, T* out, std::int64_t n) {
  constexpr std::uint64_t blocks_per_group = per_block<T> * blocks_per_number / 4;
  for (std::int64_t i = 0; i < n; i += per_block<T>) {
    const auto group = static_cast<std::uint64_t>(i / per_block<T>);
    const Numbers<T> some = truncated_normals<T>(stream.skipped(group * blocks_per_group));
    std::copy_n(some.begin(), std::min<std::int64_t>(per_block<T>, n - i), out + i);
  }
}

template <class T>
Status fill_ints(const Philox& stream, const Tensor& low, const Tensor& high, Tensor& out) {
  const T lo = low.item<T>(), hi = high.item<T>();
  if (lo >= hi) return invalid("Need minval < maxval, got {} >= {}", lo, hi);
  fill_blocks(stream, UniformInt<T>(lo, hi), out.mutable_data<T>(), out.size());
  return absl::OkStatus();
}

constexpr std::int32_t philox = 1, automatic = 3;

std::int32_t algorithm_of(const Tensor& alg) {
  const auto id = alg.item<std::int32_t>();
  return id == automatic ? philox : id;
}

}  // namespace

std::uint64_t entropy() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

StatusOr<Generator> Generator::make(Binding& binding) {
  TRY_ASSIGN(std::int64_t seed, binding.attr<std::int64_t>("seed"));
  TRY_ASSIGN(std::int64_t seed2, binding.attr<std::int64_t>("seed2"));
  if (seed == 0 && seed2 == 0) return Generator(Philox::seeded(entropy(), entropy()));
  return Generator(Philox::seeded(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(seed2)));
}

StatusOr<Philox> stream_of_seed(const Tensor& seed) {
  if (seed.rank() != 1 || seed.dim(0) != 2) return invalid("seed must have shape [2], not {}", seed.shape());
  std::uint64_t s[2];
  if (seed.dtype() == DType::i64) {
    for (int i = 0; i < 2; ++i) s[i] = static_cast<std::uint64_t>(seed.data<std::int64_t>()[i]);
  } else if (seed.dtype() == DType::i32) {
    for (int i = 0; i < 2; ++i) s[i] = static_cast<std::uint64_t>(std::int64_t{seed.data<std::int32_t>()[i]});
  } else {
    return invalid("Invalid seed type: {}", name_of(seed.dtype()));
  }
  const auto x = Philox::of_words(0x02461e293ec8f720u, s[0], s[1]).next();
  return Philox({0, 0, x[2], x[3]}, {x[0], x[1]});
}

StatusOr<Philox> stream_of_key(const Tensor& key, const Tensor& counter, const Tensor& alg, int alg_index) {
  if (alg.rank() != 0) return invalid("input {} (0-based) must have shape [], not {}", alg_index, alg.shape());
  if (alg.dtype() != DType::i32 || key.dtype() != DType::u64 || counter.dtype() != DType::u64)
    return invalid("key and counter must be uint64 and alg int32, not {}, {} and {}", name_of(key.dtype()), name_of(counter.dtype()),
                   name_of(alg.dtype()));
  const std::int32_t id = algorithm_of(alg);
  if (key.shape() != Shape{1}) return invalid("key must have shape [1], not {}. (Note that batched keys are not supported yet.)", key.shape());
  if (counter.rank() != 1 || counter.dim(0) < id)
    return invalid("counter must be a vector with length at least {}; got shape: {}. (Note that batched counters are not supported yet.)", id,
                   counter.shape());
  const auto at = [&](std::int64_t i) { return i < counter.size() ? counter.data<std::uint64_t>()[i] : 0; };
  return Philox::of_words(key.item<std::uint64_t>(), at(0), at(1));
}

Status check_algorithm(const Tensor& alg) {
  const std::int32_t id = algorithm_of(alg);
  return id == philox ? absl::OkStatus() : invalid("Unsupported algorithm id: {}", id);
}

StatusOr<Shape> shape_input(const Tensor& shape) {
  if (shape.rank() != 1 || (shape.dtype() != DType::i32 && shape.dtype() != DType::i64))
    return invalid("shape must be a vector of {{int32,int64}}, got shape {}", shape.shape());
  Dims dims;
  for (std::int64_t i = 0; i < shape.size(); ++i)
    dims.push_back(shape.dtype() == DType::i64 ? shape.data<std::int64_t>()[i] : shape.data<std::int32_t>()[i]);
  for (std::int64_t d : dims)
    if (d < 0) return invalid("Dimension {} must be >= 0", d);
  return Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size()));
}

void fill_random(Fill kind, const Philox& stream, Tensor& out) {
  const std::int64_t n = out.size();
  visit_dtype(floats{}, out.dtype(), [&]<class T>() {
    if (kind == Fill::uniform) fill_blocks(stream, Uniform<T>(), out.mutable_data<T>(), n);
    if (kind == Fill::normal) fill_blocks(stream, Normal<T>(), out.mutable_data<T>(), n);
    if (kind == Fill::truncated_normal) fill_truncated(stream, out.mutable_data<T>(), n);
  });
  visit_dtype(types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}, out.dtype(),
              [&]<class T>() { fill_blocks(stream, FullInt<T>(), out.mutable_data<T>(), n); });
}

Status fill_random_ints(const Philox& stream, const Tensor& low, const Tensor& high, Tensor& out) {
  if (low.rank() != 0) return invalid("minval must be 0-D, got shape {}", low.shape());
  if (high.rank() != 0) return invalid("maxval must be 0-D, got shape {}", high.shape());
  if (low.dtype() != out.dtype() || high.dtype() != out.dtype())
    return invalid("minval and maxval must be {}, not {} and {}", name_of(out.dtype()), name_of(low.dtype()), name_of(high.dtype()));
  return out.dtype() == DType::i64 ? fill_ints<std::int64_t>(stream, low, high, out) : fill_ints<std::int32_t>(stream, low, high, out);
}

}  // namespace troupe
