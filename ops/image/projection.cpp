// Projective transforms of images.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

enum class Fill { constant, reflect, wrap, nearest };

struct ProjectionOptions {
  Fill fill;
  bool bilinear, nearest;

  static StatusOr<ProjectionOptions> make(Binding& binding) {
    TRY_ASSIGN(auto interpolation, binding.attr<std::string>("interpolation"));
    TRY_ASSIGN(auto mode, binding.attr<std::string>("fill_mode"));
    const Fill fill = mode == "REFLECT" ? Fill::reflect : mode == "WRAP" ? Fill::wrap : mode == "NEAREST" ? Fill::nearest : Fill::constant;
    return ProjectionOptions{fill, interpolation == "BILINEAR", interpolation == "NEAREST"};
  }
};

/// Brings a coordinate outside of the image inside, as the fill mode says.
float inside(Fill fill, float at, std::int64_t length) {
  const float last = static_cast<float>(length - 1), whole = static_cast<float>(length);
  const auto turns = [](float v) { return static_cast<float>(static_cast<std::int64_t>(v)); };
  if (fill == Fill::constant) return at;
  if (fill != Fill::nearest && (at < 0 || at > last) && length <= 1) return 0;
  if (fill == Fill::reflect && at < 0) {
    const float twice = 2 * whole;
    if (at < twice) at = twice * turns(-at / twice) + at;
    at = at < -whole ? at + twice : -at - 1;
  } else if (fill == Fill::reflect && at > last) {
    const float twice = 2 * whole;
    at -= twice * turns(at / twice);
    if (at >= whole) at = twice - at - 1;
  } else if (fill == Fill::wrap && at < 0) {
    at += whole * (turns(-at / last) + 1);
  } else if (fill == Fill::wrap && at > last) {
    at -= whole * turns(at / last);
  }
  return std::clamp(at, 0.0f, last);
}

template <class T>
struct Source {
  const T* image;
  std::int64_t height, width, depth;
  T fill;

  float read(float y, float x, std::int64_t c) const {
    if (!(y >= 0 && y < static_cast<float>(height) && x >= 0 && x < static_cast<float>(width))) return static_cast<float>(fill);
    return static_cast<float>(image[(static_cast<std::int64_t>(y) * width + static_cast<std::int64_t>(x)) * depth + c]);
  }
  /// A value of its own type where no arithmetic is needed.
  T pick(float y, float x, std::int64_t c) const {
    if (!(y >= 0 && y < static_cast<float>(height) && x >= 0 && x < static_cast<float>(width))) return fill;
    return image[(static_cast<std::int64_t>(y) * width + static_cast<std::int64_t>(x)) * depth + c];
  }
  T between(float y, float x, std::int64_t c) const {
    const float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
    const float upper = (x1 - x) * read(y0, x0, c) + (x - x0) * read(y0, x1, c), lower = (x1 - x) * read(y1, x0, c) + (x - x0) * read(y1, x1, c);
    return static_cast<T>((y1 - y) * upper + (y - y0) * lower);
  }
};

template <class T>
Status project(Call& call, const In<T>& images, const In<float>& transforms, const In<std::int32_t>& size, float fill, const ProjectionOptions& o) {
  if (images.dims() != 4) return invalid("Input images must have rank 4");
  if (transforms.dims() != 2 || (transforms.dim(0) != images.dim(0) && transforms.dim(0) != 1) || transforms.dim(1) != 8)
    return invalid("Input transform should be num_images x 8 or 1 x 8");
  if (size.dims() != 1) return invalid("output shape must be 1-dimensional{}", size.shape());
  if (size.size() != 2) return invalid("output shape must have two elements{}", size.shape());
  if (size[0] <= 0 || size[1] <= 0) return invalid("output dimensions must be positive");
  const std::int64_t height = images.dim(1), width = images.dim(2), depth = images.dim(3), dims[] = {images.dim(0), size[0], size[1], depth};
  TRY_ASSIGN(Shape shape, Shape::checked(dims));
  T* out = call.alloc<T>(0, shape);
  for (std::int64_t b = 0; b < images.dim(0); ++b) {
    const float* t = transforms.data() + (transforms.dim(0) == 1 ? 0 : b * 8);
    const Source<T> source{images.data() + b * height * width * depth, height, width, depth, static_cast<T>(fill)};
    for (std::int64_t row = 0; row < size[0]; ++row)
      for (std::int64_t column = 0; column < size[1]; ++column, out += depth) {
        const float y = static_cast<float>(row), x = static_cast<float>(column), k = t[6] * x + t[7] * y + 1;
        const float in_x = inside(o.fill, (t[0] * x + t[1] * y + t[2]) / k, width), in_y = inside(o.fill, (t[3] * x + t[4] * y + t[5]) / k, height);
        for (std::int64_t c = 0; c < depth; ++c)
          out[c] = k == 0       ? static_cast<T>(fill)
                   : o.nearest  ? source.pick(std::round(in_y), std::round(in_x), c)
                   : o.bilinear ? source.between(in_y, in_x, c)
                                : T(0);
      }
  }
  return absl::OkStatus();
}

}  // namespace

void add_projection(Registry& ops) {
  using Types = types<std::uint8_t, std::int32_t, std::int64_t, half, float, double>;
  ops.add("ImageProjectiveTransformV2", On<"dtype", Types>{},
          []<class T>(Call& call, In<T> images, In<float> transforms, In<std::int32_t> size, const ProjectionOptions& o) {
            return project(call, images, transforms, size, 0, o);
          });
  ops.add("ImageProjectiveTransformV3", On<"dtype", Types>{},
          []<class T>(Call& call, In<T> images, In<float> transforms, In<std::int32_t> size, In<float> fill, const ProjectionOptions& o) -> Status {
            if (fill.dims() != 0) return invalid("fill_value must be a scalar{}", fill.shape());
            return project(call, images, transforms, size, fill[0], o);
          });
  ops.cost({"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"}, 20);
}

}  // namespace troupe
