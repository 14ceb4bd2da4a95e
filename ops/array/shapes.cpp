// Checks of shapes that come as data.
#include <troupe/ops/array/shapes.hpp>

#include <troupe/ops/array/storage.hpp>

namespace troupe {

StatusOr<Shape> make_shape(std::span<const std::int64_t> dims) {
  if (dims.size() > static_cast<std::size_t>(Shape::max_rank)) return invalid("Too many dimensions");
  std::int64_t n = 1;
  for (std::int64_t d : dims) {
    if (d < 0) return invalid("Dimension {} must be >= 0", d);
    if (__builtin_mul_overflow(n, d, &n)) return invalid("Shape [{}] would have more than 2**63 - 1 elements", fmt::join(dims, ","));
  }
  return Shape(dims);
}

StatusOr<Shape> make_shape(const Tensor& sizes) {
  const Dims dims = as_dims(sizes);
  return make_shape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

std::string index_text(const Shape& shape, std::int64_t at) {
  Dims index(static_cast<std::size_t>(shape.rank()), 0);
  for (int d = shape.rank(); d-- > 0;) {
    const std::int64_t n = std::max<std::int64_t>(shape.dim(d), 1);
    index[static_cast<std::size_t>(d)] = at % n;
    at /= n;
  }
  return shape.rank() == 0 ? "" : fmt::format("[{}]", fmt::join(index.begin(), index.end(), ","));
}

}  // namespace troupe
