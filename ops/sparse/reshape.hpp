// Reshaping of sparse tensors.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <span>

namespace troupe {

struct ReshapedIndices {
  Tensor indices, shape;
};

/// The same elements under another shape, in which one size may be -1.
StatusOr<ReshapedIndices> reshape_indices(const Tensor& indices, const Tensor& shape, std::span<const std::int64_t> target);

}  // namespace troupe
