// Sparse tensors that are stacked to one of a higher rank, and taken apart again.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <vector>

namespace troupe {

struct SparseParts {
  Tensor indices, values, shape;
};

/// One sparse tensor for each index of the first dimension.
StatusOr<std::vector<SparseParts>> unstack(const SparseIn& s);
/// Stacks tensors under leading dimensions `outer` that have as many places as there are tensors; the shape is the least that holds all.
/// All have the same rank and dtype, checked before.
SparseParts stack(const std::vector<SparseParts>& parts, const Shape& outer);

}  // namespace troupe
