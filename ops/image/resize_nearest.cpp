// Resizing to the nearest pixel, by the average of an area, and the former's gradient.
#include <troupe/ops/image/resize.hpp>

#include <vector>

namespace troupe {

namespace {

std::vector<std::int64_t> nearest(const ResizeOptions& o, std::int64_t in, std::int64_t out) {
  std::vector<std::int64_t> found;
  const float scale = o.scale(in, out);
  for (std::int64_t i = 0; i < out; ++i) {
    const float at = o.half_pixel ? (static_cast<float>(i) + 0.5f) * scale : static_cast<float>(i) * scale;
    const auto pixel = static_cast<std::int64_t>(o.align_corners ? std::round(at) : std::floor(at));
    found.push_back(std::clamp<std::int64_t>(pixel, 0, in - 1));
  }
  return found;
}

template <class T>
void pick(const Resize& r, const ResizeOptions& o, const T* in, T* out) {
  if (r.nothing()) return;
  const auto rows = nearest(o, r.in_height, r.out_height), columns = nearest(o, r.in_width, r.out_width);
  for (std::int64_t b = 0; b < r.batch; ++b, in += r.in_size())
    for (std::int64_t y : rows)
      for (std::int64_t x : columns) out = std::copy_n(in + (y * r.in_width + x) * r.channels, r.channels, out);
}

StatusOr<Resize> gradient_sizes(const Shape& gradient, const In<std::int32_t>& size) {
  if (gradient.rank() != 4) return invalid("input must be 4-dimensional{}", gradient);
  if (size.dims() != 1) return invalid("shape_t must be 1-dimensional{}", size.shape());
  if (size.size() != 2) return invalid("shape_t must have two elements{}", size.shape());
  if (size[0] <= 0 || size[1] <= 0) return invalid("shape_t's elements must be positive");
  return Resize{gradient[0], gradient[3], size[0], size[1], gradient[1], gradient[2]};
}

template <class T>
void gather(const Resize& r, const ResizeOptions& o, const T* gradient, T* out) {
  std::fill_n(out, r.batch * r.in_size(), T(0));
  if (r.nothing() || r.out_size() == 0) return;
  const auto rows = nearest(o, r.in_height, r.out_height), columns = nearest(o, r.in_width, r.out_width);
  for (std::int64_t b = 0; b < r.batch; ++b, out += r.in_size())
    for (std::int64_t y : rows)
      for (std::int64_t x : columns)
        for (std::int64_t c = 0; c < r.channels; ++c) {
          T& to = out[(y * r.in_width + x) * r.channels + c];
          to = static_cast<T>(to + *gradient++);
        }
}

/// The pixels that an output covers, with the length of each that it covers.
struct Cover {
  std::vector<std::int64_t> pixels;
  std::vector<float> lengths;
};
std::vector<Cover> covers(float scale, std::int64_t in, std::int64_t out) {
  std::vector<Cover> found(static_cast<std::size_t>(out));
  for (std::int64_t i = 0; i < out; ++i) {
    const float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    for (auto k = static_cast<std::int64_t>(std::floor(begin)), last = static_cast<std::int64_t>(std::ceil(end)); k < last; ++k) {
      const float at = static_cast<float>(k);
      const float length = at < begin ? (at + 1 > end ? scale : at + 1 - begin) : (at + 1 > end ? end - at : 1.0f);
      found[static_cast<std::size_t>(i)].pixels.push_back(std::clamp<std::int64_t>(k, 0, in - 1));
      found[static_cast<std::size_t>(i)].lengths.push_back(length);
    }
  }
  return found;
}

template <class T>
void average(const Resize& r, const ResizeOptions& o, const T* in, float* out) {
  if (r.nothing()) return;
  const float height = o.scale(r.in_height, r.out_height), width = o.scale(r.in_width, r.out_width), scale = 1 / (height * width);
  const auto rows = covers(height, r.in_height, r.out_height), columns = covers(width, r.in_width, r.out_width);
  for (std::int64_t b = 0; b < r.batch; ++b, in += r.in_size())
    for (const Cover& y : rows)
      for (const Cover& x : columns)
        for (std::int64_t c = 0; c < r.channels; ++c) {
          float sum = 0;
          for (std::size_t i = 0; i < y.pixels.size(); ++i)
            for (std::size_t j = 0; j < x.pixels.size(); ++j)
              sum += static_cast<float>(in[(y.pixels[i] * r.in_width + x.pixels[j]) * r.channels + c]) * y.lengths[i] * x.lengths[j] * scale;
          *out++ = sum;
        }
}

}  // namespace

void add_resize_nearest(Registry& ops) {
  ops.add("ResizeNearestNeighbor", reals{},
          []<class T>(Call& call, In<T> image, In<std::int32_t> size, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) -> Status {
            const ResizeOptions options{*corners, *half_pixel};
            TRY(options.check());
            TRY_ASSIGN(auto r, resize_sizes(image.shape(), size));
            pick(r, options, image.data(), call.alloc<T>(0, r.output()));
            return absl::OkStatus();
          });
  ops.add("ResizeNearestNeighborGrad", reals{},
          []<class T>(Call& call, In<T> gradient, In<std::int32_t> size, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) -> Status {
            const ResizeOptions options{*corners, *half_pixel};
            TRY(options.check());
            TRY_ASSIGN(auto r, gradient_sizes(gradient.shape(), size));
            gather(r, options, gradient.data(), call.alloc<T>(0, Shape{r.batch, r.in_height, r.in_width, r.channels}));
            return absl::OkStatus();
          });
  ops.add("ResizeArea", reals{}, []<class T>(Call& call, In<T> image, In<std::int32_t> size, Attr<"align_corners", bool> corners) -> Status {
    const ResizeOptions options{*corners, false};
    TRY_ASSIGN(auto r, resize_sizes(image.shape(), size));
    average(r, options, image.data(), call.alloc<float>(0, r.output()));
    return absl::OkStatus();
  });
  ops.cost({"ResizeNearestNeighbor", "ResizeNearestNeighborGrad"}, 5);
  ops.cost({"ResizeArea"}, 20);
}

}  // namespace troupe
