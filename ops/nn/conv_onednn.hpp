// Convolutions of floats by oneDNN, channels last.
#pragma once

#include <troupe/ops/nn/conv.hpp>

namespace troupe::onednn {

/// Each is false where oneDNN has no quick way for these sizes; nothing has been computed then. Groups are served, too: the filter of a depthwise
/// convolution, [taps][channels][multiplier], is that of a convolution with one group for each channel.
bool convolve(const Convolution& conv, const float* input, const float* filter, float* output);
bool convolve_back(const Convolution& conv, const float* filter, const float* gradient, float* input);
bool correlate(const Convolution& conv, const float* input, const float* gradient, float* filter);

}  // namespace troupe::onednn
