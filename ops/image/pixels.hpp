// Decoded images on their way between codecs and tensors.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Rows of pixels, channels innermost; frames one after another. Sample is uint8_t or uint16_t.
template <class Sample>
struct Pixels {
  std::int64_t frames = 1, height = 0, width = 0, channels = 0;
  std::vector<Sample> samples;

  std::int64_t row() const { return width * channels; }
  /// Makes room; refuses sizes that no image has.
  Status resize(std::int64_t h, std::int64_t w, std::int64_t c) {
    constexpr std::int64_t limit = std::int64_t{1} << 29;
    if (h <= 0 || w <= 0 || c <= 0 || h > limit / w / c) return invalid("Image of {} x {} pixels with {} channels is too large", h, w, c);
    height = h;
    width = w;
    channels = c;
    samples.assign(static_cast<std::size_t>(h * w * c), 0);
    return absl::OkStatus();
  }
};

}  // namespace troupe
