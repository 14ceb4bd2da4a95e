// What the ops on TensorArrays share.
#pragma once

#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/resources/tensor_array.hpp>

namespace troupe {

template <>
struct named_in_step<TensorArray> {
  static constexpr const char* complaint = "Tensor array handle must be 2-element vector";
};

/// The element type that a reader or a writer names must be the array's.
Status check_requested(const TensorArray& array, DType dtype);
Status check_written(const TensorArray& array, DType dtype);

}  // namespace troupe
