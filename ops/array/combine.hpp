// Slices of a tensor combined with new values: what all scatter ops do once they know where.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <vector>

namespace troupe {

enum class Combine { update, add, sub, mul, div, min, max };

/// Combines the slices of `size` elements at these offsets with the updates, one after another.
/// `one_value`: the updates are a single element for all. All has been checked; division meets no zero.
void combine_slices(Combine how, Tensor& to, const std::vector<std::int64_t>& offsets, std::int64_t size, const Tensor& updates, bool one_value);

/// Whether any element of a numeric tensor is zero.
bool has_zero(const Tensor& t);

}  // namespace troupe
