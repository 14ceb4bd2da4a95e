// Row splits of ragged tensors: where each row begins, and behind the last where it ends.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <vector>

namespace troupe {

/// The elements of a tensor of int32 or int64.
std::vector<std::int64_t> split_values(const Tensor& splits);
/// A vector of splits of type int32 or int64.
Tensor splits_tensor(DType dtype, const std::vector<std::int64_t>& splits);

}  // namespace troupe
