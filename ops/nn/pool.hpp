// What pooling ops share: their attributes, their sizes and the walk over windows.
#pragma once

#include <troupe/ops/nn/channels_first.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/nn/window.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

/// Attributes of a pooling op; ksize and strides are empty where the op takes them as inputs.
struct PoolOptions {
  std::vector<std::int64_t> ksize, strides, paddings;
  Padding padding;
  bool channels_first;

  static StatusOr<PoolOptions> make(Binding& binding);
  /// Whether values of T whose channels come first are pooled after moving those to the end.
  template <class T>
  bool moves_channels() const {
    return takes_channels_first<T> && channels_first && padding != Padding::fixed && (ksize.size() < 2 || ksize[1] == 1);
  }
  /// The same for inputs whose channels have been moved to the end.
  PoolOptions with_channels_last() const {
    return {list_channels_last(ksize, ksize.size()), list_channels_last(strides, strides.size()), {}, padding, false};
  }
};

/// Sizes of a pooling; a missing third spatial dimension comes first with size 1.
struct Pooling {
  std::int64_t batch = 1, depth = 1;
  std::int64_t depth_window = 1;  // channels that are pooled together
  std::array<Window, 3> window;

  std::int64_t inputs() const { return window[0].input * window[1].input * window[2].input; }
  std::int64_t positions() const { return window[0].output * window[1].output * window[2].output; }
};

/// Sizes of a pooling of images, from the input's shape; the text of every refusal is TensorFlow's.
StatusOr<Pooling> pool_sizes(const PoolOptions& options, const Shape& input);
/// The shape of what a pooling of images gives.
inline Shape pooled_shape(const Pooling& p) { return {p.batch, p.window[1].output, p.window[2].output, p.depth / p.depth_window}; }

/// ksize and strides from input tensors, for the ops that take them so.
StatusOr<PoolOptions> with_inputs(const PoolOptions& options, const In<std::int32_t>& ksize, const In<std::int32_t>& strides);
Status check_max_pool_options(const PoolOptions& options, const char* kind);

/// Calls pixel(offset) for every pixel of the input that the window of `position` covers, in order.
template <class Pixel>
void for_each_pixel(const Pooling& p, std::int64_t position, Pixel&& pixel) {
  const auto& [wz, wy, wx] = p.window;
  const std::int64_t z0 = wz.begin(position / (wx.output * wy.output)), y0 = wy.begin(position / wx.output % wy.output),
                     x0 = wx.begin(position % wx.output);
  for (std::int64_t z = std::max<std::int64_t>(z0, 0), ze = std::min(z0 + wz.filter, wz.input); z < ze; ++z)
    for (std::int64_t y = std::max<std::int64_t>(y0, 0), ye = std::min(y0 + wy.filter, wy.input); y < ye; ++y)
      for (std::int64_t x = std::max<std::int64_t>(x0, 0), xe = std::min(x0 + wx.filter, wx.input); x < xe; ++x)
        pixel((z * wy.input + y) * wx.input + x);
}

/// Offset, within one image, of the first largest value of each channel in the window of a position; -1 where the window is empty.
template <class T>
void find_largest(const Pooling& p, const T* image, std::int64_t position, std::vector<std::int64_t>& at) {
  at.assign(static_cast<std::size_t>(p.depth), -1);
  for_each_pixel(p, position, [&](std::int64_t pixel) {
    for (std::int64_t c = 0; c < p.depth; ++c) {
      auto& best = at[static_cast<std::size_t>(c)];
      if (best < 0 || image[best] < image[pixel * p.depth + c]) best = pixel * p.depth + c;
    }
  });
}

}  // namespace troupe
