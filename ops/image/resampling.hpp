// Resampling along one dimension: which input pixels an output pixel is made of, and with which weights.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A filter: its values at distances from the center, zero beyond the radius.
struct Filter {
  float radius = 1;
  float (*at)(float distance, float radius) = nullptr;

  /// By the names that ops have for them.
  static StatusOr<Filter> named(const std::string& name);
};

/// For each output pixel the first input pixel, and `size` weights from there on.
struct Spans {
  std::int64_t size = 0;
  std::vector<std::int64_t> starts;
  Tensor weights;  // float, starts.size() * size

  const float* weights_of(std::int64_t output) const { return weights.data<float>() + output * size; }
};

struct Axis {
  std::int64_t output, input;  // numbers of pixels
  float scale, translation;    // from input to output
};

Spans spans_of(const Filter& filter, const Axis& axis, bool antialias);
/// The same relation seen from the input's pixels.
Spans gradient_spans(const Spans& forward, std::int64_t inputs);

/// Image [height, width, channels] to [rows' outputs, columns' outputs, channels].
template <class T>
void resample(const T* image, std::int64_t height, std::int64_t width, std::int64_t channels, const Spans& rows, const Spans& columns, float* between,
              float* out) {
  const std::int64_t row = width * channels;
  for (std::size_t y = 0; y < rows.starts.size(); ++y) {
    float* to = between + static_cast<std::int64_t>(y) * row;
    std::fill_n(to, row, 0.0f);
    const float* w = rows.weights_of(static_cast<std::int64_t>(y));
    const std::int64_t last = std::min(rows.starts[y] + rows.size, height);
    for (std::int64_t in = rows.starts[y]; in < last; ++in, ++w)
      for (std::int64_t i = 0; i < row; ++i) to[i] += *w * static_cast<float>(image[in * row + i]);
  }
  for (std::size_t y = 0; y < rows.starts.size(); ++y) {
    const float* from = between + static_cast<std::int64_t>(y) * row;
    for (std::size_t x = 0; x < columns.starts.size(); ++x, out += channels) {
      std::fill_n(out, channels, 0.0f);
      const float* w = columns.weights_of(static_cast<std::int64_t>(x));
      const std::int64_t last = std::min(columns.starts[x] + columns.size, width);
      for (std::int64_t in = columns.starts[x]; in < last; ++in, ++w)
        for (std::int64_t c = 0; c < channels; ++c) out[c] += *w * from[in * channels + c];
    }
  }
}

}  // namespace troupe
