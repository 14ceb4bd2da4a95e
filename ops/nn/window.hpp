// The arithmetic of sliding windows: sizes, strides, dilations and paddings.
#pragma once

#include <troupe/messaging/status.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe {

enum class Padding { valid, same, fixed };

/// From the attribute's text; EXPLICIT is fixed.
StatusOr<Padding> padding_from(std::string_view text);

/// One spatial dimension of a convolution or pooling.
struct Window {
  std::int64_t input = 1, filter = 1, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  // padding
  std::int64_t output = 1;

  std::int64_t reach() const { return (filter - 1) * dilation + 1; }
  /// Where the window of output position `at` begins in the input; may be negative.
  std::int64_t begin(std::int64_t at) const { return at * stride - before; }
};

/// Computes the output's size, and for SAME the padding. `before` and `after` count for fixed padding only.
StatusOr<Window> make_window(std::int64_t input, std::int64_t filter, std::int64_t stride, std::int64_t dilation, Padding padding,
                             std::int64_t before = 0, std::int64_t after = 0);

}  // namespace troupe
