// Sizes of sliding windows.
#include <troupe/ops/nn/window.hpp>

#include <algorithm>

namespace troupe {

StatusOr<Padding> padding_from(std::string_view text) {
  if (text == "VALID") return Padding::valid;
  if (text == "SAME") return Padding::same;
  if (text == "EXPLICIT") return Padding::fixed;
  return invalid("{} is not an allowed padding type", text);
}

StatusOr<Window> make_window(std::int64_t input, std::int64_t filter, std::int64_t stride, std::int64_t dilation, Padding padding,
                             std::int64_t before, std::int64_t after) {
  if (stride <= 0) return invalid("Stride must be > 0, but got {}", stride);
  if (dilation < 1) return invalid("Dilation rate must be >= 1, but got {}", dilation);
  Window w{input, filter, stride, dilation, 0, 0, 0};
  if (padding == Padding::same) {
    w.output = (input + stride - 1) / stride;
    const std::int64_t needed = std::max<std::int64_t>(0, (w.output - 1) * stride + w.reach() - input);
    w.before = needed / 2;
    w.after = needed - w.before;
  } else {
    if (padding == Padding::fixed) {
      w.before = before;
      w.after = after;
    }
    w.output = (input + w.before + w.after - w.reach() + stride) / stride;
  }
  if (w.output < 0)
    return invalid("Computed output size would be negative: {} [input_size: {}, effective_filter_size: {}, stride: {}]", w.output, input, w.reach(),
                   stride);
  return w;
}

}  // namespace troupe
