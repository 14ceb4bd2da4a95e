// Index tensors of any integer type, read as one type.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <vector>

namespace troupe {

/// The values of a tensor of integers; empty for other types.
std::vector<std::int64_t> index_values(const Tensor& t);
/// The first value of a tensor of integers that is not empty.
std::int64_t index_value(const Tensor& t);

}  // namespace troupe
