// Shapes that come as data: from tensors that hold sizes.
#pragma once

#include <troupe/messaging/shape.hpp>
#include <troupe/messaging/tensor.hpp>

namespace troupe {

/// A shape from sizes that a graph computed, refused with the texts that kernels give.
StatusOr<Shape> make_shape(std::span<const std::int64_t> dims);
/// The same from the elements of an integer tensor.
StatusOr<Shape> make_shape(const Tensor& sizes);

/// "[0,2]": the index of element `at` of a shape, as messages name it; empty for a scalar.
std::string index_text(const Shape& shape, std::int64_t at);

}  // namespace troupe
