// Arithmetic of partly known shapes.
#pragma once

#include <troupe/messaging/shape.hpp>

namespace troupe {

/// What both say together; INVALID_ARGUMENT with TensorFlow's text where they contradict.
StatusOr<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b);
/// The dimensions of one after those of the other; of unknown rank if either is.
PartialShape concat_shapes(const PartialShape& a, const PartialShape& b);
PartialShape without_first(const PartialShape& shape);
/// A shape out of a tensor of numbers: a vector of sizes (-1: unknown), or the scalar -1 for an unknown rank.
StatusOr<PartialShape> shape_from_tensor(const class Tensor& tensor);

}  // namespace troupe
