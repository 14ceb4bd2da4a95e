// What a fused product or convolution does to its result: bias or normalisation per channel, then an activation.
#pragma once

#include <troupe/ops/params.hpp>

#include <string>
#include <vector>

namespace troupe {

struct Finish {
  float leaky_alpha;
  float epsilon;
};

/// Applies `fused` ("BiasAdd" or "FusedBatchNorm", then at most one activation) in place; the last dimension is the channels.
template <class T>
Status finish_fused(T* values, const Shape& shape, const List& args, const std::vector<std::string>& fused, const Finish& finish);

}  // namespace troupe
