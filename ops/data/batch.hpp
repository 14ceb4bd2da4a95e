// Putting elements together to batches.
#pragma once

#include <troupe/ops/data/dataset.hpp>

namespace troupe {

/// Elements of equal shapes under each other; the last batch may be smaller unless it is dropped.
/// With `fused` only their numbers of elements have to be equal, as where TensorFlow maps and batches in one.
SourcePtr batched(SourcePtr input, std::int64_t size, bool drop_remainder, bool fused);
/// How many batches there are.
std::int64_t batch_count(std::int64_t elements, std::int64_t size, bool drop_remainder);
/// All of a batch: the components of some elements, each stacked.
StatusOr<Tuple> stack_elements(const std::vector<Tuple>& elements, bool fused);
/// Shapes with the size of a batch in front, where every batch has it.
std::vector<PartialShape> batch_shapes(const Dataset& input, std::int64_t size, bool drop_remainder);

}  // namespace troupe
