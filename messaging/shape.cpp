// Checks and printing of shapes.
#include <troupe/messaging/shape.hpp>

namespace troupe {

StatusOr<Shape> Shape::checked(std::span<const std::int64_t> dims) {
  if (dims.size() > max_rank) return invalid("Shape must have at most {} dimensions, but got {}", max_rank, dims.size());
  std::int64_t n = 1;
  for (std::int64_t d : dims) {
    if (d < 0) return invalid("Expected shape dimensions to be non-negative, got {}", d);
    if (__builtin_mul_overflow(n, d, &n)) return invalid("Shape [{}] would have more than 2**63 - 1 elements", fmt::join(dims, ","));
  }
  return Shape(dims);
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.dims(), ",")); }

bool PartialShape::fully_known() const {
  if (!dims_) return false;
  for (std::int64_t d : *dims_)
    if (d < 0) return false;
  return true;
}

std::optional<Shape> PartialShape::known() const {
  if (!fully_known()) return std::nullopt;
  return Shape(dims());
}

bool PartialShape::compatible_with(const Shape& shape) const {
  if (!dims_) return true;
  if (rank() != shape.rank()) return false;
  for (int i = 0; i < rank(); ++i)
    if (dim(i) >= 0 && dim(i) != shape.dim(i)) return false;
  return true;
}

std::string to_string(const PartialShape& shape) {
  if (shape.unknown_rank()) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ',';
    text += shape.dim(i) < 0 ? "?" : std::to_string(shape.dim(i));
  }
  return text + "]";
}

}  // namespace troupe
