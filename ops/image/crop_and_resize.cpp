// Crops of images, resized to one size, and the gradients for images and for boxes.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <cmath>
#include <optional>
#include <vector>

namespace troupe {

namespace {

/// Sizes of a call: images [batch, height, width, depth], crops [boxes, crop_height, crop_width, depth].
struct Crops {
  std::int64_t batch, height, width, depth, boxes, crop_height, crop_width;
};

Status check_boxes(const In<float>& boxes, const In<std::int32_t>& indices) {
  if (boxes.dims() == 0 && indices.size() == 0) return absl::OkStatus();
  if (boxes.dims() != 2) return invalid("boxes must be 2-D{}", boxes.shape());
  if (boxes.dim(1) != 4) return invalid("boxes must have 4 columns");
  for (float v : boxes.values())
    if (!std::isfinite(v)) return invalid("Boxes contains at least one element that is not finite");
  if (indices.dims() != 1) return invalid("box_indices must be rank 1 but is shape {}", indices.shape());
  if (indices.dim(0) != boxes.dim(0)) return invalid("box_index has incompatible shape");
  return absl::OkStatus();
}

Status check_indices(const In<std::int32_t>& indices, std::int64_t batch) {
  for (std::int32_t i : indices.values())
    if (i < 0 || i >= batch) return out_of_range("box_index has values outside [0, batch_size)");
  return absl::OkStatus();
}

/// One axis of a crop: where output `at` falls in the image; nothing outside of it.
struct Axis {
  float begin, end;
  std::int64_t image, crop;

  float step() const { return crop > 1 ? (end - begin) * static_cast<float>(image - 1) / static_cast<float>(crop - 1) : 0; }
  std::optional<float> source(std::int64_t at) const {
    const float last = static_cast<float>(image - 1);
    const float in = crop > 1 ? begin * last + static_cast<float>(at) * step() : 0.5f * (begin + end) * last;
    return in < 0 || in > last ? std::nullopt : std::optional(in);
  }
};

struct Box {
  Axis y, x;
  std::int64_t image;
};

Box box_at(const Crops& s, const In<float>& boxes, const In<std::int32_t>& indices, std::int64_t b) {
  const float* v = boxes.data() + b * 4;
  return {{v[0], v[2], s.height, s.crop_height}, {v[1], v[3], s.width, s.crop_width}, indices[b]};
}

/// The four pixels around a point, as offsets in the images, and how far between them it lies.
struct Corners {
  std::int64_t top_left, top_right, bottom_left, bottom_right;
  float y, x;

  Corners(const Crops& s, std::int64_t image, float in_y, float in_x) : y(in_y - std::floor(in_y)), x(in_x - std::floor(in_x)) {
    const auto offset = [&](float row, float column) {
      return ((image * s.height + static_cast<std::int64_t>(row)) * s.width + static_cast<std::int64_t>(column)) * s.depth;
    };
    top_left = offset(std::floor(in_y), std::floor(in_x));
    top_right = offset(std::floor(in_y), std::ceil(in_x));
    bottom_left = offset(std::ceil(in_y), std::floor(in_x));
    bottom_right = offset(std::ceil(in_y), std::ceil(in_x));
  }
};

std::int64_t nearest(const Crops& s, std::int64_t image, float y, float x) {
  return ((image * s.height + static_cast<std::int64_t>(std::round(y))) * s.width + static_cast<std::int64_t>(std::round(x))) * s.depth;
}

template <class T>
void crop(const Crops& s, const T* images, const In<float>& boxes, const In<std::int32_t>& indices, bool bilinear, float outside, float* out) {
  for (std::int64_t b = 0; b < s.boxes; ++b) {
    const Box box = box_at(s, boxes, indices, b);
    for (std::int64_t y = 0; y < s.crop_height; ++y)
      for (std::int64_t x = 0; x < s.crop_width; ++x, out += s.depth) {
        const auto in_y = box.y.source(y), in_x = box.x.source(x);
        if (!in_y || !in_x) {
          std::fill_n(out, s.depth, outside);
          continue;
        }
        if (!bilinear) {
          const std::int64_t at = nearest(s, box.image, *in_y, *in_x);
          for (std::int64_t d = 0; d < s.depth; ++d) out[d] = static_cast<float>(images[at + d]);
          continue;
        }
        const Corners c(s, box.image, *in_y, *in_x);
        for (std::int64_t d = 0; d < s.depth; ++d) {
          const auto value = [&](std::int64_t at) { return static_cast<float>(images[at + d]); };
          const float top = value(c.top_left) + (value(c.top_right) - value(c.top_left)) * c.x;
          const float bottom = value(c.bottom_left) + (value(c.bottom_right) - value(c.bottom_left)) * c.x;
          out[d] = top + (bottom - top) * c.y;
        }
      }
  }
}

template <class T>
Status crop_and_resize(Call& call, const In<T>& image, const In<float>& boxes, const In<std::int32_t>& indices, const In<std::int32_t>& size,
                       bool bilinear, float outside) {
  if (image.dims() != 4) return invalid("input image must be 4-D{}", image.shape());
  Crops s{image.dim(0), image.dim(1), image.dim(2), image.dim(3), 0, 0, 0};
  if (s.height <= 0 || s.width <= 0) return invalid("image dimensions must be positive");
  TRY(check_boxes(boxes, indices));
  s.boxes = indices.size();
  if (size.dims() != 1) return invalid("crop_size must be 1-D{}", size.shape());
  if (size.size() != 2) return invalid("crop_size must have two elements{}", size.shape());
  s.crop_height = size[0];
  s.crop_width = size[1];
  if (s.crop_height <= 0 || s.crop_width <= 0) return invalid("crop dimensions must be positive");
  const std::int64_t dims[] = {s.boxes, s.crop_height, s.crop_width, s.depth};
  TRY_ASSIGN(Shape shape, Shape::checked(dims));
  TRY(check_indices(indices, s.batch));
  crop(s, image.data(), boxes, indices, bilinear, outside, call.alloc<float>(0, shape));
  return absl::OkStatus();
}

StatusOr<Crops> gradient_sizes(const In<float>& gradient) {
  if (gradient.dims() != 4) return invalid("grads image must be 4-D{}", gradient.shape());
  if (gradient.dim(1) <= 0 || gradient.dim(2) <= 0) return invalid("grads dimensions must be positive");
  return Crops{0, 0, 0, gradient.dim(3), gradient.dim(0), gradient.dim(1), gradient.dim(2)};
}

template <class T>
Status image_gradient(Call& call, const In<float>& gradient, const In<float>& boxes, const In<std::int32_t>& indices, const In<std::int32_t>& size,
                      bool bilinear) {
  TRY_ASSIGN(auto s, gradient_sizes(gradient));
  TRY(check_boxes(boxes, indices));
  if (indices.size() != s.boxes) return invalid("boxes and grads have incompatible shape");
  if (size.dims() != 1) return invalid("image_size must be 1-D{}", size.shape());
  if (size.size() != 4) return invalid("image_size must have 4 elements{}", size.shape());
  s.batch = size[0];
  s.height = size[1];
  s.width = size[2];
  if (s.height <= 0 || s.width <= 0) return invalid("image dimensions must be positive");
  if (size[3] != s.depth) return invalid("image_size and grads are incompatible");
  const std::int64_t dims[] = {s.batch, s.height, s.width, s.depth};
  TRY_ASSIGN(Shape shape, Shape::checked(dims));
  TRY(check_indices(indices, s.batch));
  T* out = call.alloc<T>(0, shape);
  std::vector<double> sums(static_cast<std::size_t>(shape.elements()), 0.0);
  const float* g = gradient.data();
  for (std::int64_t b = 0; b < s.boxes; ++b) {
    const Box box = box_at(s, boxes, indices, b);
    for (std::int64_t y = 0; y < s.crop_height; ++y)
      for (std::int64_t x = 0; x < s.crop_width; ++x, g += s.depth) {
        const auto in_y = box.y.source(y), in_x = box.x.source(x);
        if (!in_y || !in_x) continue;
        const auto add = [&](std::int64_t at, float down, float across) {
          for (std::int64_t d = 0; d < s.depth; ++d) sums[static_cast<std::size_t>(at + d)] += g[d] * down * across;
        };
        if (!bilinear) {
          add(nearest(s, box.image, *in_y, *in_x), 1, 1);
          continue;
        }
        const Corners c(s, box.image, *in_y, *in_x);
        add(c.top_left, 1 - c.y, 1 - c.x);
        add(c.top_right, 1 - c.y, c.x);
        add(c.bottom_left, c.y, 1 - c.x);
        add(c.bottom_right, c.y, c.x);
      }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<T>(sums[i]);
  return absl::OkStatus();
}

template <class T>
Status box_gradient(Call& call, const In<float>& gradient, const In<T>& image, const In<float>& boxes, const In<std::int32_t>& indices) {
  TRY_ASSIGN(auto s, gradient_sizes(gradient));
  if (image.dims() != 4) return invalid("input image must be 4-D{}", image.shape());
  s.batch = image.dim(0);
  s.height = image.dim(1);
  s.width = image.dim(2);
  if (s.height <= 0 || s.width <= 0) return invalid("image dimensions must be positive");
  if (image.dim(3) != s.depth) return invalid("image, grads depth differ");
  TRY(check_boxes(boxes, indices));
  if (indices.size() != s.boxes) return invalid("boxes and grads have incompatible shape");
  TRY(check_indices(indices, s.batch));
  float* out = call.alloc<float>(0, Shape{s.boxes, 4});
  const float* g = gradient.data();
  for (std::int64_t b = 0; b < s.boxes; ++b, out += 4) {
    const Box box = box_at(s, boxes, indices, b);
    const float h = static_cast<float>(s.height - 1), w = static_cast<float>(s.width - 1);
    const float y_ratio = s.crop_height > 1 ? h / static_cast<float>(s.crop_height - 1) : 0,
                x_ratio = s.crop_width > 1 ? w / static_cast<float>(s.crop_width - 1) : 0;
    double sums[4] = {0, 0, 0, 0};
    for (std::int64_t y = 0; y < s.crop_height; ++y)
      for (std::int64_t x = 0; x < s.crop_width; ++x, g += s.depth) {
        const auto in_y = box.y.source(y), in_x = box.x.source(x);
        if (!in_y || !in_x) continue;
        const Corners c(s, box.image, *in_y, *in_x);
        for (std::int64_t d = 0; d < s.depth; ++d) {
          const auto value = [&](std::int64_t at) { return static_cast<float>(image[at + d]); };
          const float tl = value(c.top_left), tr = value(c.top_right), bl = value(c.bottom_left), br = value(c.bottom_right);
          const float dy = g[d] * ((1 - c.x) * (bl - tl) + c.x * (br - tr)), dx = g[d] * ((1 - c.y) * (tr - tl) + c.y * (br - bl));
          sums[0] += dy * (s.crop_height > 1 ? h - static_cast<float>(y) * y_ratio : 0.5f * h);
          sums[2] += dy * (s.crop_height > 1 ? static_cast<float>(y) * y_ratio : 0.5f * h);
          sums[1] += dx * (s.crop_width > 1 ? w - static_cast<float>(x) * x_ratio : 0.5f * w);
          sums[3] += dx * (s.crop_width > 1 ? static_cast<float>(x) * x_ratio : 0.5f * w);
        }
      }
    for (int k = 0; k < 4; ++k) out[k] = static_cast<float>(sums[k]);
  }
  return absl::OkStatus();
}

}  // namespace

void add_crop_and_resize(Registry& ops) {
  ops.add("CropAndResize", reals{},
          []<class T>(Call& call, In<T> image, In<float> boxes, In<std::int32_t> indices, In<std::int32_t> size, Attr<"method", std::string> method,
                      Attr<"extrapolation_value", float> outside) {
            return crop_and_resize(call, image, boxes, indices, size, *method == "bilinear", *outside);
          });
  ops.add("CropAndResizeGradImage", types<half, float, double>{},
          []<class T>(Call& call, In<float> gradient, In<float> boxes, In<std::int32_t> indices, In<std::int32_t> size, Gives<T>,
                      Attr<"method", std::string> method) { return image_gradient<T>(call, gradient, boxes, indices, size, *method == "bilinear"); });
  ops.add("CropAndResizeGradBoxes", reals{}, []<class T>(Call& call, In<float> gradient, In<T> image, In<float> boxes, In<std::int32_t> indices) {
    return box_gradient(call, gradient, image, boxes, indices);
  });
  ops.cost({"CropAndResize", "CropAndResizeGradImage", "CropAndResizeGradBoxes"}, 20);
}

}  // namespace troupe
