// Blocks of space moved to the batch dimension, and back.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// Two tensors of the same elements: `space`, and `batch` that has a copy of its batch for each position within a block.
struct Blocks {
  Dims block;  // sizes, one for each spatial dimension
  Dims sides;  // before and after each: padding of space, or what is cropped
  Shape space, batch;

  std::size_t dims() const { return block.size(); }
  /// For position `which` within the block, the walk over its elements from space to batch.
  Walk walk(std::int64_t which) const;
};

Walk Blocks::walk(std::int64_t which) const {
  const Dims space_steps = steps_of(space), batch_steps = steps_of(batch);
  Walk w;
  w.to = which * space.dim(0) * batch_steps[0];
  w.add(space.dim(0), space_steps[0], batch_steps[0]);
  Dims at(dims(), 0);
  for (std::size_t d = dims(); d-- > 0; which /= block[d]) at[d] = which % block[d];
  for (std::size_t d = 0; d < dims(); ++d) {
    const int s = static_cast<int>(d) + 1;
    const std::int64_t b = block[d], before = sides[2 * d], n = space.dim(s);
    // Places p of batch with 0 <= p * b + at - before < n.
    const std::int64_t first = std::max<std::int64_t>(0, (before - at[d] + b - 1) / b);
    const std::int64_t end = std::min(batch.dim(s), n + before > at[d] ? (n - 1 + before - at[d]) / b + 1 : 0);
    w.from += (first * b + at[d] - before) * space_steps[d + 1];
    w.to += first * batch_steps[d + 1];
    w.add(std::max<std::int64_t>(0, end - first), b * space_steps[d + 1], batch_steps[d + 1]);
  }
  w.add(space.elements(static_cast<int>(dims()) + 1, space.rank()), 1, 1);
  return w;
}

StatusOr<Blocks> read_blocks(const Tensor& x, const Tensor& block_shape, const Tensor& sides, const char* name) {
  if (block_shape.rank() != 1) return invalid("block_shape rank should be 1 instead of {}", block_shape.rank());
  const std::int64_t n = block_shape.size();
  if (x.rank() < 1 + n) return invalid("input rank should be >= {} instead of {}", 1 + n, x.rank());
  if (sides.rank() != 2 || sides.dim(0) != n || sides.dim(1) != 2)
    return invalid("{} should have shape [{}, 2] instead of {}", name, n, sides.shape());
  return Blocks{as_dims(block_shape), as_dims(sides), {}, {}};
}

Status space_to_batch(Call& call, const Tensor& x, Blocks blocks) {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < blocks.dims(); ++d) {
    if (blocks.block[d] < 1) return invalid("All values in block_shape must be positive, got value, {} at index {}.", blocks.block[d], d);
    if (product < 0 || __builtin_mul_overflow(product, blocks.block[d], &product)) product = -1;
  }
  if (product <= 0) return invalid("Product of block sizes must be positive, got {}", product);
  blocks.space = blocks.batch = x.shape();
  std::int64_t batch = 0;
  if (__builtin_mul_overflow(x.dim(0), product, &batch)) return invalid("Negative output batch size would result: {}", product);
  blocks.batch.set_dim(0, batch);
  for (std::size_t d = 0; d < blocks.dims(); ++d) {
    const std::int64_t before = blocks.sides[2 * d], after = blocks.sides[2 * d + 1], b = blocks.block[d];
    if (before < 0 || after < 0) return invalid("Paddings must be non-negative");
    std::int64_t padded = 0;
    if (__builtin_add_overflow(before, after, &padded) || __builtin_add_overflow(padded, x.dim(static_cast<int>(d) + 1), &padded))
      return invalid("Padded size of dimension {} is too large", d);
    if (padded % b != 0) return invalid("padded_shape[{}]={} is not divisible by block_shape[{}]={}", d, padded, d, b);
    blocks.batch.set_dim(static_cast<int>(d) + 1, padded / b);
  }
  TRY_ASSIGN(const Shape shape, Shape::checked(blocks.batch.dims()));
  call.set(0, Tensor::zeros(x.dtype(), shape));
  if (shape.elements() == 0) return absl::OkStatus();
  for (std::int64_t i = 0; i < product; ++i) copy_along(blocks.walk(i), x, call.out(0));
  return absl::OkStatus();
}

Status batch_to_space(Call& call, const Tensor& x, Blocks blocks) {
  std::uint64_t wrapped = 1;
  for (std::int64_t b : blocks.block) wrapped *= static_cast<std::uint64_t>(b);
  const auto product = static_cast<std::int64_t>(wrapped);
  if (product <= 0) return invalid("Product of block sizes must be positive, got {}", product);
  if (x.dim(0) % product != 0) return invalid("Input batch dimension ({}) is not divisible by product of block sizes ({})", x.dim(0), product);
  blocks.space = blocks.batch = x.shape();
  blocks.space.set_dim(0, x.dim(0) / product);
  for (std::size_t d = 0; d < blocks.dims(); ++d) {
    const std::int64_t before = blocks.sides[2 * d], after = blocks.sides[2 * d + 1], b = blocks.block[d];
    if (b < 1) return invalid("All values in block_shape must be positive, got value, {} at index {}.", b, d);
    if (before < 0 || after < 0) return invalid("Crops must be non-negative");
    std::int64_t whole = 0;
    if (__builtin_mul_overflow(x.dim(static_cast<int>(d) + 1), b, &whole)) return invalid("Size of dimension {} is too large", d);
    std::int64_t cropped = 0;
    if (__builtin_sub_overflow(whole - before, after, &cropped) || cropped < 0)
      return invalid("cropped_shape[{}]={} must be non-negative", d, cropped);
    blocks.space.set_dim(static_cast<int>(d) + 1, cropped);
  }
  TRY_ASSIGN(const Shape shape, Shape::checked(blocks.space.dims()));
  Tensor& out = call.alloc(0, x.dtype(), shape);
  if (shape.elements() == 0) return absl::OkStatus();
  for (std::int64_t i = 0; i < product; ++i) {
    Walk walk = blocks.walk(i);
    std::swap(walk.from, walk.to);
    std::swap(walk.from_step, walk.to_step);
    copy_along(walk, x, out);
  }
  return absl::OkStatus();
}

StatusOr<Blocks> square_blocks(const Tensor& x, std::int64_t size, const Tensor& sides, const char* name) {
  if (x.rank() != 4) return invalid("Input rank should be: {}instead of: {}", 4, x.rank());
  return read_blocks(x, Tensor::vector(std::vector<std::int64_t>{size, size}), sides, name);
}

}  // namespace

void add_space_batch(Registry& ops) {
  const ForTypes types{"T", dtypes::real()};
  add_for(ops, "SpaceToBatchND", {types}, [](Call& call, Any x, Any block_shape, Any paddings) -> Status {
    TRY_ASSIGN(Blocks blocks, read_blocks(x.tensor, block_shape.tensor, paddings.tensor, "paddings"));
    return space_to_batch(call, x.tensor, std::move(blocks));
  });
  add_for(ops, "BatchToSpaceND", {types}, [](Call& call, Any x, Any block_shape, Any crops) -> Status {
    TRY_ASSIGN(Blocks blocks, read_blocks(x.tensor, block_shape.tensor, crops.tensor, "crops"));
    return batch_to_space(call, x.tensor, std::move(blocks));
  });
  add_for(ops, "SpaceToBatch", {types}, [](Call& call, Any x, Any paddings, Attr<"block_size", std::int64_t> size) -> Status {
    TRY_ASSIGN(Blocks blocks, square_blocks(x.tensor, size, paddings.tensor, "paddings"));
    return space_to_batch(call, x.tensor, std::move(blocks));
  });
  add_for(ops, "BatchToSpace", {types}, [](Call& call, Any x, Any crops, Attr<"block_size", std::int64_t> size) -> Status {
    TRY_ASSIGN(Blocks blocks, square_blocks(x.tensor, size, crops.tensor, "crops"));
    return batch_to_space(call, x.tensor, std::move(blocks));
  });
}

}  // namespace troupe
