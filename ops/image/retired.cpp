// Ops on images that clients have removed since, in graphs of older versions: crops at random places, contrasts within bounds.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/generator.hpp>

#include <algorithm>

namespace troupe {
namespace {

template <class T>
Status random_crop(Call& call, const In<T>& image, const In<std::int64_t>& size, Generator& generator) {
  if (image.dims() != 3) return invalid("input must be 3-dimensional{}", image.shape());
  if (size.dims() != 1) return invalid("shape_t must be 1-dimensional{}", size.shape());
  if (size.size() != 2) return invalid("shape_t must have two elements{}", size.shape());
  const std::int64_t height = image.dim(0), width = image.dim(1), channels = image.dim(2), rows = size[0], columns = size[1];
  if (rows < 0 || columns < 0) return invalid("Expected shape dimensions to be non-negative, got {}", std::min(rows, columns));
  if (height < rows) return failed_precondition("height must be >= target_height: height = {}, target_height = {}", height, rows);
  if (width < columns) return failed_precondition("width must be >= target_width: width = {}, target_width = {}", width, columns);
  if (height == rows && width == columns) {
    call.set(0, image.tensor);
    return absl::OkStatus();
  }
  T* out = call.alloc<T>(0, Shape{rows, columns, channels});
  PhiloxWords words(generator.reserve(1));
  const auto draw = [&](std::int64_t room) { return room > 0 ? static_cast<std::int64_t>(words() % static_cast<std::uint64_t>(room + 1)) : 0; };
  const std::int64_t left = draw(width - columns), top = draw(height - rows);
  for (std::int64_t y = 0; y < rows; ++y) out = std::copy_n(image.data() + ((top + y) * width + left) * channels, columns * channels, out);
  return absl::OkStatus();
}

template <class T>
Status bounded_contrast(Call& call, const In<T>& image, const In<float>& factor, const In<float>& low, const In<float>& high) {
  if (image.dims() < 3) return invalid("input must be at least 3-D, got shape{}", image.shape());
  const std::pair<const char*, const In<float>*> scalars[] = {{"contrast_factor", &factor}, {"min_value", &low}, {"max_value", &high}};
  for (const auto& [name, scalar] : scalars)
    if (scalar->dims() != 0) return invalid("{} must be scalar: {}", name, scalar->shape());
  const int rank = image.dims();
  const std::int64_t channels = image.dim(rank - 1), pixels = image.dim(rank - 2) * image.dim(rank - 3);
  float* out = call.alloc<float>(0, image.shape());
  for (std::int64_t at = 0; at < image.size(); at += pixels * channels)
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::int64_t p = 0; p < pixels; ++p) sum += static_cast<double>(static_cast<float>(image[at + p * channels + c]));
      const float mean = static_cast<float>(sum / static_cast<double>(pixels));
      for (std::int64_t p = 0; p < pixels; ++p) {
        const float x = (static_cast<float>(image[at + p * channels + c]) - mean) * factor[0] + mean;
        out[at + p * channels + c] = std::max(std::min(x, high[0]), low[0]);
      }
    }
  return absl::OkStatus();
}

}  // namespace

void add_retired_images(Registry& ops) {
  ops.add("RandomCrop", reals{}, []<class T>(Call& call, In<T> image, In<std::int64_t> size, State<Generator> generator) {
    return random_crop(call, image, size, *generator);
  });
  ops.add("AdjustContrast", types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, float, double>{},
          []<class T>(Call& call, In<T> image, In<float> factor, In<float> low, In<float> high) {
            return bounded_contrast(call, image, factor, low, high);
          });
}

}  // namespace troupe
