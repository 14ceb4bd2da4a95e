// Colours of images: hue, saturation, contrast, and conversions between RGB and HSV.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/wide.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe {

namespace {

template <class F>
using Triple = std::array<F, 3>;

template <class F>
Triple<F> to_hsv(const Triple<F>& rgb) {
  const auto [r, g, b] = rgb;
  const F value = std::max({r, g, b}), range = value - std::min({r, g, b}), saturation = value > 0 ? range / value : F(0);
  const F norm = F(1) / (F(6) * range);
  F hue = r == value ? norm * (g - b) : g == value ? norm * (b - r) + F(2) / F(6) : norm * (r - g) + F(4) / F(6);
  if (!(range > 0)) hue = 0;
  return {hue < 0 ? hue + F(1) : hue, saturation, value};
}

template <class F>
Triple<F> to_rgb(const Triple<F>& hsv) {
  const auto [h, s, v] = hsv;
  const F at = h * F(6);
  const auto clip = [](F x) { return std::min(std::max(x, F(0)), F(1)); };
  const F r = clip(std::abs(at - F(3)) - F(1)), g = clip(F(2) - std::abs(at - F(2))), b = clip(F(2) - std::abs(at - F(4)));
  return {((F(1) - s) + s * r) * v, ((F(1) - s) + s * g) * v, ((F(1) - s) + s * b) * v};
}

template <class T, class F>
void map_pixels(const In<T>& x, T* out, F f) {
  using W = Wide<T>;
  for (std::int64_t i = 0; i < x.size(); i += 3) {
    const auto y = f(Triple<W>{static_cast<W>(x[i]), static_cast<W>(x[i + 1]), static_cast<W>(x[i + 2])});
    for (std::size_t c = 0; c < 3; ++c) out[i + static_cast<std::int64_t>(c)] = static_cast<T>(y[c]);
  }
}

template <class T, class F>
Status convert(Call& call, const In<T>& x, F f) {
  if (x.dims() < 1) return invalid("input must be at least 1D{}", x.shape());
  const std::int64_t channels = x.dim(x.dims() - 1);
  if (channels != 3) return failed_precondition("input must have 3 channels but input only has {} channels.", channels);
  map_pixels(x, call.alloc<T>(0, x.shape()), f);
  return absl::OkStatus();
}

Status check_image(const In<float>& image, const In<float>& amount, const char* name, bool colors) {
  if (image.dims() < 3) return invalid("input must be at least 3-D, got shape{}", image.shape());
  if (amount.dims() != 0) return invalid("{} must be scalar: {}", name, amount.shape());
  const std::int64_t channels = image.dim(image.dims() - 1);
  if (colors && channels != 3) return invalid("input must have 3 channels but instead has {} channels.", channels);
  return absl::OkStatus();
}

Status adjust_contrast(Call& call, const In<float>& image, const In<float>& factor) {
  TRY(check_image(image, factor, "contrast_factor", false));
  const int rank = image.dims();
  const std::int64_t channels = image.dim(rank - 1), pixels = image.dim(rank - 2) * image.dim(rank - 3);
  float* out = call.alloc<float>(0, image.shape());
  for (std::int64_t at = 0; at < image.size(); at += pixels * channels)
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::int64_t p = 0; p < pixels; ++p) sum += image[at + p * channels + c];
      const float mean = static_cast<float>(sum / static_cast<double>(pixels));
      for (std::int64_t p = 0; p < pixels; ++p) out[at + p * channels + c] = (image[at + p * channels + c] - mean) * factor[0] + mean;
    }
  return absl::OkStatus();
}

/// Turns the hue and keeps the largest and smallest component as they are.
Triple<float> turn_hue(const Triple<float>& rgb, float delta) {
  const float high = std::max({rgb[0], rgb[1], rgb[2]}), low = std::min({rgb[0], rgb[1], rgb[2]}), range = high - low;
  if (range <= 0) return rgb;
  const auto [r, g, b] = rgb;
  float hue = r == high ? (g - b) / range : g == high ? 2 + (b - r) / range : 4 + (r - g) / range;
  hue = std::fmod(hue + delta * 6, 6.0f);
  if (hue < 0) hue += 6;
  const auto component = [&](float share) { return low + std::clamp(share, 0.0f, 1.0f) * range; };
  return {component(std::abs(hue - 3) - 1), component(2 - std::abs(hue - 2)), component(2 - std::abs(hue - 4))};
}

}  // namespace

void add_color(Registry& ops) {
  ops.add("RGBToHSV", floats{}, []<class T>(Call& call, In<T> x) { return convert(call, x, to_hsv<Wide<T>>); });
  ops.add("HSVToRGB", floats{}, []<class T>(Call& call, In<T> x) { return convert(call, x, to_rgb<Wide<T>>); });
  ops.add("AdjustContrastv2", types<float>{},
          []<class T>(Call& call, In<T> image, In<float> factor) { return adjust_contrast(call, image, factor); });
  ops.add("AdjustHue", types<float>{}, []<class T>(Call& call, In<T> image, In<float> delta) -> Status {
    TRY(check_image(image, delta, "delta", true));
    map_pixels(image, call.alloc<T>(0, image.shape()), [&](const Triple<float>& rgb) { return turn_hue(rgb, delta[0]); });
    return absl::OkStatus();
  });
  ops.add("AdjustSaturation", types<float>{}, []<class T>(Call& call, In<T> image, In<float> scale) -> Status {
    TRY(check_image(image, scale, "scale", true));
    map_pixels(image, call.alloc<T>(0, image.shape()), [&](const Triple<float>& rgb) {
      auto hsv = to_hsv(rgb);
      hsv[1] = std::min(1.0f, std::max(0.0f, hsv[1] * scale[0]));
      return to_rgb(hsv);
    });
    return absl::OkStatus();
  });
  ops.cost({"RGBToHSV", "HSVToRGB", "AdjustContrastv2", "AdjustHue", "AdjustSaturation"}, 8);
}

}  // namespace troupe
