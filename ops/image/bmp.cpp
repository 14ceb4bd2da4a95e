// A reader of BMP files.
#include <troupe/ops/image/bmp.hpp>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

template <class Int>
Int number_at(std::string_view file, std::size_t at) {
  Int value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

}  // namespace

StatusOr<Pixels<std::uint8_t>> decode_bmp(std::string_view file, int channels) {
  if (file.size() < 32)
    return invalid("Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {} bytes", file.size());
  const auto header = number_at<std::int32_t>(file, 10), width = number_at<std::int32_t>(file, 18), height = number_at<std::int32_t>(file, 22);
  const auto bits = number_at<std::int16_t>(file, 28);
  if (channels != 0 && channels != bits / 8) return invalid("channels attribute {} does not match bits per pixel from file {}", channels, bits / 8);
  const int own = bits / 8;
  if (own != 1 && own != 3 && own != 4) return invalid("Number of channels inherent in the image must be 1, 3 or 4, was {}", own);
  if (width <= 0) return invalid("Width must be positive");
  if (height == 0 || height == INT32_MIN) return invalid("Height must be nonzero");
  if (header < 0) return invalid("header size must be nonnegative, got {}", header);
  Pixels<std::uint8_t> image;
  const std::int64_t rows = std::abs(height), stride = (static_cast<std::int64_t>(width) * own + 3) / 4 * 4;
  const std::int64_t rest = static_cast<std::int64_t>(file.size()) - header - rows * stride;
  if (rest != 0) return invalid("Input size should match (header_size + row_size * abs_height) but they differ by {}", rest);
  TRY(image.resize(rows, width, own));
  // Positive heights are stored from the bottom up; colours come as blue, green, red.
  for (std::int64_t y = 0; y < rows; ++y) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(file.data()) + header + (height > 0 ? rows - 1 - y : y) * stride;
    std::uint8_t* to = image.samples.data() + y * image.row();
    std::memcpy(to, from, static_cast<std::size_t>(image.row()));
    for (std::int64_t x = 0; own >= 3 && x < width; ++x) std::swap(to[x * own], to[x * own + 2]);
  }
  return image;
}

}  // namespace troupe
