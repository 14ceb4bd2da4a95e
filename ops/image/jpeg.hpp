// JPEG files in memory.
#pragma once

#include <troupe/ops/image/pixels.hpp>

#include <optional>

namespace troupe {

/// A part of an image, in pixels.
struct JpegCrop {
  std::int64_t y, x, height, width;
};
struct JpegReading {
  int channels = 0;  // 0: the file's own
  int ratio = 1;
  bool fancy_upscaling = true, recover_truncated = false, accurate = false;
  float acceptable_fraction = 1;
  std::optional<JpegCrop> crop;
};
struct JpegWriting {
  bool gray = false, progressive = false, optimize_size = false, chroma_downsampling = true;
  int quality = 95, density_unit = 1, x_density = 300, y_density = 300;
  std::string xmp;
};
struct JpegShape {
  std::int64_t height, width, channels;
};

/// Nothing when the data is no whole JPEG file, or the crop is not within it.
std::optional<Pixels<std::uint8_t>> decode_jpeg(std::string_view file, const JpegReading& reading);
std::optional<JpegShape> jpeg_shape(std::string_view file);
/// Encodes rows of 1 or 3 channels; empty when it fails.
std::string encode_jpeg(const std::uint8_t* samples, std::int64_t height, std::int64_t width, int channels, const JpegWriting& writing);

}  // namespace troupe
