// The type that a kernel computes in where its element type is too narrow for sums.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <type_traits>

namespace troupe {

/// float for sixteen-bit floats, T itself otherwise.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

}  // namespace troupe
