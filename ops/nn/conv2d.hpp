// What the convolution ops of two dimensions share: their attributes and the check of their shapes.
#pragma once

#include <troupe/ops/nn/channels_first.hpp>
#include <troupe/ops/nn/conv.hpp>
#include <troupe/ops/nn/options.hpp>

#include <vector>

namespace troupe {

/// The attributes of a two-dimensional convolution.
struct ConvOptions {
  std::vector<std::int64_t> strides, dilations, paddings;
  Padding padding;
  bool channels_first;

  static StatusOr<ConvOptions> make(Binding& binding);
  /// The same for inputs whose channels have been moved to the end.
  ConvOptions with_channels_last() const {
    return {list_channels_last(strides, 4), list_channels_last(dilations, 4), list_channels_last(paddings, 4), padding, false};
  }

  /// Index of spatial dimension 0 or 1 in a tensor of this format.
  int spatial(int i) const { return i + (channels_first ? 2 : 1); }
  int channel() const { return channels_first ? 1 : 3; }
  StatusOr<Window> window(int i, std::int64_t input, std::int64_t filter) const {
    const auto at = static_cast<std::size_t>(spatial(i));
    const bool fixed = padding == Padding::fixed;
    return make_window(input, filter, strides[at], dilations[at], padding, fixed ? paddings[2 * at] : 0, fixed ? paddings[2 * at + 1] : 0);
  }
};

/// Sizes of the convolution whose gradient an op asks for; `name` is what errors begin with.
StatusOr<Convolution> backprop_sizes(const char* name, const ConvOptions& options, const Shape& input, const Shape& filter, const Shape& gradient);

}  // namespace troupe
