// Bilinear resizing and its gradient.
#include <troupe/ops/image/resize.hpp>

#include <vector>

namespace troupe {

namespace {

/// Two neighbours and how far between them a coordinate lies.
struct Between {
  std::int64_t lower, upper;
  float share;
};

std::vector<Between> between(const ResizeOptions& o, std::int64_t in, std::int64_t out) {
  std::vector<Between> found;
  const float scale = o.scale(in, out);
  for (std::int64_t i = 0; i < out; ++i) {
    const float at = o.source(i, scale), floor = std::floor(at);
    found.push_back(
        {std::max<std::int64_t>(static_cast<std::int64_t>(floor), 0), std::min(static_cast<std::int64_t>(std::ceil(at)), in - 1), at - floor});
  }
  return found;
}

template <class T>
void resize(const Resize& r, const ResizeOptions& o, const T* in, float* out) {
  if (r.nothing()) return;
  const auto rows = between(o, r.in_height, r.out_height), columns = between(o, r.in_width, r.out_width);
  for (std::int64_t b = 0; b < r.batch; ++b, in += r.in_size())
    for (const Between& y : rows) {
      const T *top = in + y.lower * r.in_width * r.channels, *bottom = in + y.upper * r.in_width * r.channels;
      for (const Between& x : columns)
        for (std::int64_t c = 0; c < r.channels; ++c) {
          const std::int64_t left = x.lower * r.channels + c, right = x.upper * r.channels + c;
          const float tl = static_cast<float>(top[left]), tr = static_cast<float>(top[right]);
          const float bl = static_cast<float>(bottom[left]), br = static_cast<float>(bottom[right]);
          const float upper = tl + (tr - tl) * x.share, lower = bl + (br - bl) * x.share;
          *out++ = upper + (lower - upper) * y.share;
        }
    }
}

template <class T>
void spread(const Resize& r, const ResizeOptions& o, const float* gradient, T* out) {
  if (r.nothing()) return;
  const auto rows = between(o, r.in_height, r.out_height), columns = between(o, r.in_width, r.out_width);
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<Sum> sums(static_cast<std::size_t>(r.in_size()));
  for (std::int64_t b = 0; b < r.batch; ++b) {
    std::fill(sums.begin(), sums.end(), Sum(0));
    for (const Between& y : rows)
      for (const Between& x : columns)
        for (std::int64_t c = 0; c < r.channels; ++c) {
          const auto add = [&](std::int64_t row, std::int64_t column, float down, float across) {
            sums[static_cast<std::size_t>((row * r.in_width + column) * r.channels + c)] += static_cast<Sum>(*gradient * down * across);
          };
          add(y.lower, x.lower, 1 - y.share, 1 - x.share);
          add(y.lower, x.upper, 1 - y.share, x.share);
          add(y.upper, x.lower, y.share, 1 - x.share);
          add(y.upper, x.upper, y.share, x.share);
          ++gradient;
        }
    out = std::transform(sums.begin(), sums.end(), out, [](Sum v) { return static_cast<T>(v); });
  }
}

}  // namespace

void add_resize_bilinear(Registry& ops) {
  ops.add("ResizeBilinear", reals{},
          []<class T>(Call& call, In<T> image, In<std::int32_t> size, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) -> Status {
            const ResizeOptions options{*corners, *half_pixel};
            TRY(options.check());
            TRY_ASSIGN(auto r, resize_sizes(image.shape(), size));
            resize(r, options, image.data(), call.alloc<float>(0, r.output()));
            return absl::OkStatus();
          });
  ops.add("ResizeBilinearGrad", floats{},
          []<class T>(Call& call, In<float> gradient, In<T> original, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) -> Status {
            const ResizeOptions options{*corners, *half_pixel};
            TRY(options.check());
            TRY_ASSIGN(auto r, resize_gradient_sizes(gradient.shape(), original.shape()));
            spread(r, options, gradient.data(), call.alloc<T>(0, original.shape()));
            return absl::OkStatus();
          });
  ops.cost({"ResizeBilinear", "ResizeBilinearGrad"}, 20);
}

}  // namespace troupe
