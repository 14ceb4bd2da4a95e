// SparseReshape.
#include <troupe/ops/sparse/reshape.hpp>

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

/// The target with its size that was left open worked out.
StatusOr<Shape> resolve(const Shape& from, std::span<const std::int64_t> target) {
  const std::int64_t total = from.elements();
  std::int64_t product = 1;
  int open = -1;
  Dims dims;
  for (std::size_t d = 0; d < target.size(); ++d) {
    const std::int64_t size = target[d];
    if (size == -1) {
      if (open != -1) return invalid("only one output dimension may be -1, not both {} and {}", open, d);
      open = static_cast<int>(d);
      dims.push_back(1);
      continue;
    }
    if (size < 0) return invalid("size {} must be non-negative, not {}", d, size);
    dims.push_back(size);
    std::int64_t more = 0;
    if (__builtin_mul_overflow(product, size, &more)) return invalid("Encountered overflow when multiplying {} with {}, result: -1", product, size);
    product = more;
  }
  Shape to(std::span<const std::int64_t>(dims.data(), dims.size()));
  if (open != -1) {
    if (product <= 0) return invalid("reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero");
    if (total % product != 0)
      return invalid(
          "Input to reshape is a SparseTensor with {} dense values, but the requested shape requires a multiple of {}. input_shape={} "
          "output_shape={}",
          total, product, from, to);
    to.set_dim(open, total / product);
  }
  if (to.elements() != total)
    return invalid("Input to reshape is a tensor with {} dense values, but the requested shape has {}. input_shape={} output_shape={}", total,
                   to.elements(), from, to);
  return to;
}

}  // namespace

StatusOr<ReshapedIndices> reshape_indices(const Tensor& indices, const Tensor& shape, std::span<const std::int64_t> target) {
  TRY_ASSIGN(const Shape from, Shape::checked(shape.values<std::int64_t>()));
  TRY_ASSIGN(const Shape to, resolve(from, target));
  if (from == to) return ReshapedIndices{indices, shape};
  const std::int64_t rows = indices.dim(0);
  if (rows > 0 && from.elements() <= 0)
    return invalid("Input tensor has {} non zero elements but input shape ({}) or output shape ({}) is empty", rows, from, to);
  if (rows > 0 && indices.dim(1) != from.rank()) return invalid("Input tensor rank {} does not match shape rank {}", indices.dim(1), from.rank());
  Tensor result(DType::i64, Shape{rows, to.rank()});
  const Dims from_steps = steps_of(from), to_steps = steps_of(to);
  const std::int64_t* index = indices.data<std::int64_t>();
  std::int64_t* out = result.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < rows; ++i) {
    // Wraps round on indices far outside, which are nobody's to check here.
    std::uint64_t flat = 0;
    for (std::size_t d = 0; d < from_steps.size(); ++d) flat += static_cast<std::uint64_t>(*index++) * static_cast<std::uint64_t>(from_steps[d]);
    auto at = static_cast<std::int64_t>(flat);
    for (std::size_t d = 0; d < to_steps.size(); ++d) {
      *out++ = at / to_steps[d];
      at %= to_steps[d];
    }
  }
  return ReshapedIndices{std::move(result), sizes_tensor(to.dims())};
}

void add_sparse_reshape(Registry& ops) {
  add_for(ops, "SparseReshape", {}, [](Call& call, Any indices, Any shape, Any target) -> Status {
    if (indices->rank() != 2) return invalid("Input must be a matrix.");
    if (shape->rank() != 1) return invalid("Input shape must be a vector.");
    if (target->rank() != 1) return invalid("Target shape should be a vector but received shape {}", target->shape());
    TRY_ASSIGN(auto reshaped, reshape_indices(indices.tensor, shape.tensor, target->values<std::int64_t>()));
    call.set(0, std::move(reshaped.indices));
    call.set(1, std::move(reshaped.shape));
    return absl::OkStatus();
  });
}

}  // namespace troupe
