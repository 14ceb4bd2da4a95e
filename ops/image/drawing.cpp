// Boxes drawn into images, and glimpses taken out of them.
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace troupe {

namespace {

using Color = std::array<float, 4>;

// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
constexpr std::array<Color, 10> palette = {{{1, 1, 0, 1},
                                            {0, 0, 1, 1},
                                            {1, 0, 0, 1},
                                            {0, 1, 0, 1},
                                            {0.5, 0, 0.5, 1},
                                            {0.5, 0.5, 0, 1},
                                            {0.5, 0, 0, 1},
                                            {0, 0, 0.5, 1},
                                            {0, 1, 1, 1},
                                            {1, 0, 1, 1}}};

Status check_drawing(const Shape& images, const Shape& boxes) {
  if (images.rank() != 4) return invalid("The rank of the images should be 4");
  if (boxes.rank() != 3) return invalid("The rank of the boxes tensor should be 3");
  if (images[0] != boxes[0]) return invalid("The batch sizes should be the same");
  const std::int64_t depth = images[3];
  if (depth != 1 && depth != 3 && depth != 4) return invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  if (boxes[2] != 4) return invalid("The size of the third dimension of the box must be 4. Received: {}", boxes[2]);
  return absl::OkStatus();
}

/// One side of a box in pixels, and the part of it inside the image.
struct Span {
  std::int64_t first, last, inside_first, inside_last;
  Span(float from, float to, std::int64_t size)
      : first(static_cast<std::int64_t>(from * static_cast<float>(size - 1))),
        last(static_cast<std::int64_t>(to * static_cast<float>(size - 1))),
        inside_first(std::max<std::int64_t>(first, 0)),
        inside_last(std::min(last, size - 1)) {}
  bool outside(std::int64_t size) const { return first > last || first >= size || last < 0; }
};

template <class T>
void draw(T* image, std::int64_t height, std::int64_t width, std::int64_t depth, const float* box, const float* color) {
  for (int i = 0; i < 4; ++i)
    if (!std::isfinite(box[i]) || std::abs(box[i]) > 1e6f) return;
  const Span y(box[0], box[2], height), x(box[1], box[3], width);
  if (y.outside(height) || x.outside(width)) return;
  const auto paint = [&](std::int64_t row, std::int64_t column) {
    for (std::int64_t c = 0; c < depth; ++c) image[(row * width + column) * depth + c] = static_cast<T>(color[c]);
  };
  for (std::int64_t column = x.inside_first; column <= x.inside_last; ++column) {
    if (y.first >= 0) paint(y.first, column);
    if (y.last < height) paint(y.last, column);
  }
  for (std::int64_t row = y.inside_first; row <= y.inside_last; ++row) {
    if (x.first >= 0) paint(row, x.first);
    if (x.last < width) paint(row, x.last);
  }
}

template <class T>
Status draw_all(Call& call, const In<T>& images, const In<float>& boxes, const In<float>* colors) {
  TRY(check_drawing(images.shape(), boxes.shape()));
  const std::int64_t height = images.dim(1), width = images.dim(2), depth = images.dim(3);
  const bool own = colors && colors->size() > 0;
  if (own && colors->dims() != 2) return invalid("colors must be a 2-D matrix, got {}", colors->shape());
  if (own && colors->dim(1) < depth)
    return invalid("colors must have equal or more channels than the image provided: {} vs. {}", colors->dim(1), depth);
  const T* in = images.data();
  T* out = call.alloc_over<T>(0, images.index, images.shape());
  if (out != in) std::copy_n(in, images.size(), out);
  for (std::int64_t b = 0; b < images.dim(0); ++b)
    for (std::int64_t i = 0; i < boxes.dim(1) && images.size() > 0; ++i) {
      Color color = palette[static_cast<std::size_t>(i) % palette.size()];
      if (own) std::copy_n(colors->data() + i % colors->dim(0) * colors->dim(1), depth, color.begin());
      if (!own && depth == 1) color[0] = 1;
      draw(out + b * height * width * depth, height, width, depth, boxes.data() + (b * boxes.dim(1) + i) * 4, color.data());
    }
  return absl::OkStatus();
}

struct Glimpse {
  bool normalized, centered;
  std::string noise;
  int version;

  /// Where the window begins along one dimension.
  std::int64_t begin(float offset, std::int64_t image, std::int64_t window) const {
    const float size = static_cast<float>(image), half_window = static_cast<float>(window) / 2;
    float at = normalized ? offset * size : offset;
    const bool from_middle = version == 1 || (normalized && centered);
    if (centered) at = (from_middle ? at / 2 : at) + size / 2;
    if (from_middle) at -= half_window;
    return std::isfinite(at) ? static_cast<std::int64_t>(std::clamp(at, -1e9f, 1e9f)) : image;
  }
};

Status extract(Call& call, const In<float>& images, const In<std::int32_t>& size, const In<float>& offsets, const Glimpse& g) {
  if (g.noise != "uniform" && g.noise != "gaussian" && g.noise != "zero")
    return invalid("The noise could only be uniform, gaussian, or zero, got{}", g.noise);
  if (images.dims() != 4) return invalid("input must be 4-dimensional (batch_size, height, width, depth){}", images.shape());
  if (size.dims() != 1 || size.size() != 2) return invalid("input must be a vector of size 2 (height, width){}", size.shape());
  if (offsets.dims() != 2) return invalid("input must be a matrix{}", offsets.shape());
  if (offsets.dim(0) != images.dim(0)) return invalid("first dimension should be batch{}", offsets.shape());
  if (offsets.dim(1) != 2) return invalid("second dimension should be of size 2 (y,x){}", offsets.shape());
  const std::int64_t batch = images.dim(0), height = images.dim(1), width = images.dim(2), depth = images.dim(3);
  const std::int64_t dims[] = {batch, size[0], size[1], depth};
  TRY_ASSIGN(Shape shape, Shape::checked(dims));
  float* out = call.alloc<float>(0, shape);
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> uniform(0, 255);
  std::normal_distribution<float> gaussian(127.5f, 50);
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t y0 = g.begin(offsets[b * 2], height, size[0]), x0 = g.begin(offsets[b * 2 + 1], width, size[1]);
    for (std::int64_t y = y0; y < y0 + size[0]; ++y)
      for (std::int64_t x = x0; x < x0 + size[1]; ++x)
        for (std::int64_t c = 0; c < depth; ++c) {
          const bool inside = y >= 0 && y < height && x >= 0 && x < width;
          *out++ = inside                  ? images[((b * height + y) * width + x) * depth + c]
                   : g.noise == "uniform"  ? uniform(random)
                   : g.noise == "gaussian" ? gaussian(random)
                                           : 0;
        }
  }
  return absl::OkStatus();
}

}  // namespace

void add_drawing(Registry& ops) {
  ops.add("DrawBoundingBoxes", types<half, float>{},
          []<class T>(Call& call, In<T> images, In<float> boxes) { return draw_all<T>(call, images, boxes, nullptr); });
  ops.add("DrawBoundingBoxesV2", types<half, float>{},
          []<class T>(Call& call, In<T> images, In<float> boxes, In<float> colors) { return draw_all<T>(call, images, boxes, &colors); });
  for (int version : {1, 2})
    ops.add(version == 1 ? "ExtractGlimpse" : "ExtractGlimpseV2",
            [version](Call& call, In<float> images, In<std::int32_t> size, In<float> offsets, Attr<"centered", bool> centered,
                      Attr<"normalized", bool> normalized, Attr<"noise", std::string> noise) {
              return extract(call, images, size, offsets, {*normalized, *centered, *noise, version});
            });
}

}  // namespace troupe
