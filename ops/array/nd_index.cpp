// Indices of several dimensions as offsets into flat memory.
#include <troupe/ops/array/nd_index.hpp>

#include <troupe/ops/array/walk.hpp>

namespace troupe {

NdOffsets nd_offsets(const Tensor& indices, const Shape& shape, std::int64_t depth, std::int64_t count) {
  NdOffsets found;
  found.offsets.reserve(static_cast<std::size_t>(count));
  const Dims steps = steps_of(shape);
  by_index(indices.dtype(), [&]<class I>() {
    const I* at = indices.data<I>();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offset = 0;
      for (std::int64_t d = 0; d < depth; ++d) {
        const auto x = static_cast<std::int64_t>(*at++);
        if (x < 0 || x >= shape.dim(static_cast<int>(d))) {
          found.bad = i;
          return;
        }
        offset += x * steps[static_cast<std::size_t>(d)];
      }
      found.offsets.push_back(offset);
    }
  });
  return found;
}

std::string nd_index_text(const Tensor& indices, std::int64_t depth, std::int64_t at) {
  std::string text;
  by_index(indices.dtype(), [&]<class I>() {
    const I* row = indices.data<I>() + at * depth;
    text = fmt::format("{}", fmt::join(row, row + depth, ", "));
  });
  return text;
}

}  // namespace troupe
