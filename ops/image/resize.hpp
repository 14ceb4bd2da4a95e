// What ops that resize images share: the checks of their shapes and the map from output to input coordinates.
#pragma once

#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {

/// How coordinates are mapped.
struct ResizeOptions {
  bool align_corners, half_pixel;

  Status check() const {
    return align_corners && half_pixel ? invalid("If half_pixel_centers is True, align_corners must be False.") : absl::OkStatus();
  }
  float scale(std::int64_t in, std::int64_t out) const {
    return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : static_cast<float>(in) / static_cast<float>(out);
  }
  /// The input coordinate of an output's.
  float source(std::int64_t at, float scale) const {
    return half_pixel ? (static_cast<float>(at) + 0.5f) * scale - 0.5f : static_cast<float>(at) * scale;
  }
};

/// Sizes of a resize: batch, channels, and height and width of both sides.
struct Resize {
  std::int64_t batch, channels, in_height, in_width, out_height, out_width;

  /// No pixel is wanted, however large the image would be.
  bool nothing() const { return batch == 0 || channels == 0; }
  Shape output() const { return {batch, out_height, out_width, channels}; }
  std::int64_t in_size() const { return in_height * in_width * channels; }
  std::int64_t out_size() const { return out_height * out_width * channels; }
};

/// Sizes from an image and the vector of the size wanted.
inline StatusOr<Resize> resize_sizes(const Shape& image, const In<std::int32_t>& size) {
  if (image.rank() != 4) return invalid("input must be 4-dimensional{}", image);
  if (size.dims() != 1) return invalid("shape_t must be 1-dimensional{}", size.shape());
  if (size.size() != 2) return invalid("shape_t must have two elements{}", size.shape());
  const Resize r{image[0], image[3], image[1], image[2], size[0], size[1]};
  if (r.out_height <= 0 || r.out_width <= 0) return invalid("output dimensions must be positive");
  if (r.channels <= 0) return invalid("image must have at least one channel");
  if (r.in_height <= 0 || r.in_width <= 0) return invalid("input image must be of non-zero size");
  const Shape output = r.output();
  TRY(Shape::checked(output.dims()).status());
  return r;
}

/// Sizes from the gradient of a resized image and the original; in is the original.
inline StatusOr<Resize> resize_gradient_sizes(const Shape& gradient, const Shape& original) {
  if (gradient.rank() != 4) return invalid("input_grad must be 4-dimensional{}", gradient);
  if (original.rank() != 4) return invalid("original_image must be 4-dimensional{}", original);
  const Resize r{original[0], original[3], original[1], original[2], gradient[1], gradient[2]};
  if (r.out_height <= 0 || r.out_width <= 0) return invalid("resized dimensions must be positive");
  if (r.in_height <= 0 || r.in_width <= 0) return invalid("original dimensions must be positive");
  if (gradient[0] != r.batch || gradient[3] != r.channels)
    return invalid("input_grad and original_image must have the same batch and channels: {} vs. {}", gradient, original);
  return r;
}

}  // namespace troupe
