// Convolutions over up to three spatial dimensions, channels last: forward and both gradients.
#pragma once

#include <troupe/messaging/dtype.hpp>
#include <troupe/ops/nn/window.hpp>

namespace troupe {

/// All sizes of a convolution; unused spatial dimensions come first and have size 1.
struct Convolution {
  std::int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  std::array<Window, 3> window;

  std::int64_t inputs() const { return window[0].input * window[1].input * window[2].input; }
  std::int64_t positions() const { return window[0].output * window[1].output * window[2].output; }
  std::int64_t taps() const { return window[0].filter * window[1].filter * window[2].filter; }
  std::int64_t group_channels() const { return in_channels / groups; }
};

/// Instantiated for half, bfloat16, float, double and int32.
template <class T>
void convolve(const Convolution& conv, const T* input, const T* filter, T* output);
/// The gradient for the input; one group only.
template <class T>
void convolve_back(const Convolution& conv, const T* filter, const T* gradient, T* input);
/// The gradient for the filter; one group only.
template <class T>
void correlate(const Convolution& conv, const T* input, const T* gradient, T* filter);

}  // namespace troupe
