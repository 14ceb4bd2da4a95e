// Merging and concatenation of partly known shapes.
#include <troupe/ops/resources/partial_shapes.hpp>

#include <troupe/messaging/tensor.hpp>

namespace troupe {

StatusOr<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b) {
  if (a.unknown_rank()) return b;
  if (b.unknown_rank()) return a;
  if (a.rank() != b.rank()) return invalid("PartialTensorShape: Incompatible ranks during merge: {} vs. {}", a.rank(), b.rank());
  Dims dims;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) >= 0 && b.dim(i) >= 0 && a.dim(i) != b.dim(i))
      return invalid("PartialTensorShape: Incompatible shapes during merge: {} vs. {}", a, b);
    dims.push_back(a.dim(i) >= 0 ? a.dim(i) : b.dim(i));
  }
  return PartialShape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

PartialShape concat_shapes(const PartialShape& a, const PartialShape& b) {
  if (a.unknown_rank() || b.unknown_rank()) return PartialShape();
  Dims dims(a.dims().begin(), a.dims().end());
  for (std::int64_t d : b.dims()) dims.push_back(d);
  return PartialShape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

PartialShape without_first(const PartialShape& shape) {
  if (shape.rank() < 1) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

StatusOr<PartialShape> shape_from_tensor(const Tensor& tensor) {
  if (tensor.dtype() != DType::i32 && tensor.dtype() != DType::i64)
    return invalid("The shape must be int32 or int64, got {}", name_of(tensor.dtype()));
  const auto value = [&](std::int64_t i) {
    return tensor.dtype() == DType::i32 ? std::int64_t{tensor.data<std::int32_t>()[i]} : tensor.data<std::int64_t>()[i];
  };
  if (tensor.rank() == 0) {
    if (value(0) == -1) return PartialShape();
    return invalid("The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (tensor.rank() != 1) return invalid("Shape must be at most rank 1 but is rank {}", tensor.rank());
  Dims dims;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (value(i) < -1) return invalid("Dimension {} must be >= -1", value(i));
    dims.push_back(value(i));
  }
  if (dims.size() > static_cast<std::size_t>(Shape::max_rank)) return invalid("Too many dimensions in tensor: {}", dims.size());
  return PartialShape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

}  // namespace troupe
