// Indices of several dimensions as offsets into flat memory.
#pragma once

#include <troupe/ops/array/storage.hpp>

#include <string>
#include <vector>

namespace troupe {

struct NdOffsets {
  std::vector<std::int64_t> offsets;  // in elements
  std::int64_t bad = -1;              // the first row of indices that is out of range
};

/// Each of `count` rows of `depth` indices as an offset into a tensor of this shape. depth is at most the rank.
NdOffsets nd_offsets(const Tensor& indices, const Shape& shape, std::int64_t depth, std::int64_t count);
/// "1, 2": row `at` of the indices.
std::string nd_index_text(const Tensor& indices, std::int64_t depth, std::int64_t at);

}  // namespace troupe
