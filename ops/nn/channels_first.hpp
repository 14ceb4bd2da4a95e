// Images and volumes whose channels come first, computed with channels last.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <type_traits>
#include <vector>

namespace troupe {

/// The types for which TensorFlow's kernels on processors, with the settings it comes with, take channels that come first.
template <class T>
inline constexpr bool takes_channels_first = std::is_same_v<T, float> || std::is_same_v<T, bfloat16>;

/// [batch][channels][...] as [batch][...][channels], and back; what has fewer than three dimensions stays as it is. Elements of two or four bytes.
Tensor channels_last(const Tensor& t);
Tensor channels_first(const Tensor& t);
/// The same for a vector of sizes (int32 or int64), one for each dimension; others stay as they are.
Tensor sizes_channels_last(const Tensor& sizes, std::int64_t rank);
/// The same for an attribute that has one or two numbers for each of `rank` dimensions.
std::vector<std::int64_t> list_channels_last(std::vector<std::int64_t> list, std::size_t rank);

}  // namespace troupe
