// Keys whose byte order is the order of what they say: numbers and texts of varying length.
#pragma once

#include <troupe/ops/checkpoint/tensor_slice.hpp>

#include <string>
#include <string_view>

namespace troupe {

void append_ordered(std::string_view text, std::string& to);
void append_ordered_unsigned(std::uint64_t number, std::string& to);
void append_ordered_signed(std::int64_t number, std::string& to);

/// The key under which a part of a tensor is kept.
std::string slice_key(const std::string& name, const TensorSlice& slice);

}  // namespace troupe
