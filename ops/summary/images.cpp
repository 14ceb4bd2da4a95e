// Images of a summary: any range of numbers is brought to that of bytes, then encoded as PNG.
#include <troupe/ops/image/png.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/summary/values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

template <class T>
bool finite_pixel(const T* pixel, std::int64_t depth) {
  return std::all_of(pixel, pixel + depth, [](T x) { return std::isfinite(static_cast<double>(x)); });
}

/// Numbers that are never negative are spread from 0 to 255, others around 128; pixels that are not finite get the bad colour.
template <class T>
void to_bytes(const T* from, std::int64_t pixels, std::int64_t depth, const std::uint8_t* bad_color, std::uint8_t* to) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (std::int64_t i = 0; i < pixels; ++i) {
    if (!finite_pixel(from + i * depth, depth)) continue;
    for (std::int64_t j = 0; j < depth; ++j) {
      const float x = static_cast<float>(from[i * depth + j]);
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  constexpr float tiny = 1e-6f;
  const float reach = low < 0 ? std::max(std::abs(low), std::abs(high)) : high;
  const T scale = static_cast<T>(reach < tiny ? 0.0f : (low < 0 ? 127.0f : 255.0f) / reach);
  const T offset = static_cast<T>(low < 0 ? 128.0f : 0.0f);
  for (std::int64_t i = 0; i < pixels; ++i) {
    const T* pixel = from + i * depth;
    if (!finite_pixel(pixel, depth)) {
      std::copy_n(bad_color, depth, to + i * depth);
      continue;
    }
    for (std::int64_t j = 0; j < depth; ++j)
      to[i * depth + j] = static_cast<std::uint8_t>(static_cast<std::int32_t>(static_cast<T>(pixel[j] * scale) + offset));
  }
}

}  // namespace

Status add_images(const Tensor& images, const std::string& tag, std::int32_t most, const Tensor& bad_color, wire::Summary* summary) {
  const bool fits = images.rank() == 4 && (images.dim(3) == 1 || images.dim(3) == 3 || images.dim(3) == 4);
  if (!fits) return invalid("Tensor must be 4-D with last dim 1, 3, or 4, not {}", images.shape());
  const std::int64_t batch = images.dim(0), height = images.dim(1), width = images.dim(2), depth = images.dim(3);
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  if (batch >= limit || height >= limit || width >= limit || height * width >= (std::int64_t{1} << 29))
    return invalid("Tensor too large for summary {}", images.shape());
  if (images.dtype() != DType::u8 && bad_color.dim(0) < depth)
    return invalid("expected depth <= bad_color.size, got depth = {}, bad_color.size = {}", depth, bad_color.dim(0));
  const std::int64_t pixels = height * width;
  if (pixels == 0) return invalid("input tensor must have non-zero dims. Found: [{}].", fmt::join(images.shape().dims(), ", "));
  std::vector<std::uint8_t> buffer;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(most, batch); ++i) {
    const std::uint8_t* bytes = nullptr;
    if (images.dtype() == DType::u8) {
      bytes = images.data<std::uint8_t>() + i * pixels * depth;
    } else {
      buffer.resize(static_cast<std::size_t>(pixels * depth));
      visit_dtype(types<half, float, double>{}, images.dtype(),
                  [&]<class T>() { to_bytes(images.data<T>() + i * pixels * depth, pixels, depth, bad_color.data<std::uint8_t>(), buffer.data()); });
      bytes = buffer.data();
    }
    auto* v = summary->add_value();
    v->set_tag(most > 1 ? fmt::format("{}/image/{}", tag, i) : tag + "/image");
    auto* image = v->mutable_image();
    image->set_height(static_cast<std::int32_t>(height));
    image->set_width(static_cast<std::int32_t>(width));
    image->set_colorspace(static_cast<std::int32_t>(depth));
    image->set_encoded_image_string(encode_png(bytes, height, width, static_cast<int>(depth), -1));
    if (image->encoded_image_string().empty()) return internal("PNG encoding failed");
  }
  return absl::OkStatus();
}

}  // namespace troupe
