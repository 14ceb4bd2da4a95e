// Bicubic resizing and its gradient.
#include <troupe/ops/image/resize.hpp>
#include <troupe/ops/parallel.hpp>

#include <array>
#include <vector>

namespace troupe {

namespace {

// Weights come from a table of so many steps between two pixels.
constexpr std::int64_t steps = 1024;

/// Weights of the nearer and the farther pixel by distance, for Keys' kernel with parameter a.
std::vector<std::array<float, 2>> weight_table(double a) {
  std::vector<std::array<float, 2>> table;
  for (std::int64_t i = 0; i <= steps; ++i) {
    const float near = static_cast<float>(static_cast<double>(i) / steps), far = near + 1.0f;
    table.push_back(
        {static_cast<float>(((a + 2) * near - (a + 3)) * near * near + 1), static_cast<float>(((a * far - 5 * a) * far + 8 * a) * far - 4 * a)});
  }
  return table;
}

/// Four pixels and their weights.
struct Taps {
  std::array<std::int64_t, 4> pixel;
  std::array<float, 4> weight;
};

std::vector<Taps> taps(const ResizeOptions& o, std::int64_t in, std::int64_t out) {
  static const auto sharp = weight_table(-0.75), keys = weight_table(-0.5);
  const auto& table = o.half_pixel ? keys : sharp;
  const float scale = o.scale(in, out);
  std::vector<Taps> found;
  for (std::int64_t i = 0; i < out; ++i) {
    const float at = o.source(i, scale);
    const auto first = static_cast<std::int64_t>(std::floor(at));
    const auto offset = static_cast<std::size_t>(std::lrint((at - static_cast<float>(first)) * static_cast<float>(steps)));
    const std::size_t rest = static_cast<std::size_t>(steps) - offset;
    Taps t{{}, {table[offset][1], table[offset][0], table[rest][0], table[rest][1]}};
    float sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int64_t pixel = first - 1 + static_cast<std::int64_t>(k);
      t.pixel[k] = std::clamp<std::int64_t>(pixel, 0, in - 1);
      if (o.half_pixel && t.pixel[k] != pixel) t.weight[k] = 0;
      sum += t.weight[k];
    }
    if (o.half_pixel && std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min())
      for (float& w : t.weight) w *= 1 / sum;
    found.push_back(t);
  }
  return found;
}

template <class T>
void resize(const Resize& r, const ResizeOptions& o, const T* in, float* out) {
  if (r.nothing()) return;
  const auto rows = taps(o, r.in_height, r.out_height), columns = taps(o, r.in_width, r.out_width);
  const std::int64_t in_row = r.in_width * r.channels, out_row = r.out_width * r.channels;
  in_parallel(r.batch * r.out_height, 4.0 * static_cast<double>(in_row + out_row), [&](std::int64_t first, std::int64_t last) {
    // Four rows become one, of which four columns become one.
    std::vector<float> mixed(static_cast<std::size_t>(in_row));
    float* line = mixed.data();
    for (std::int64_t at = first; at < last; ++at) {
      const T* image = in + at / r.out_height * r.in_size();
      const Taps& y = rows[static_cast<std::size_t>(at % r.out_height)];
      const T *a = image + y.pixel[0] * in_row, *b = image + y.pixel[1] * in_row, *c = image + y.pixel[2] * in_row, *d = image + y.pixel[3] * in_row;
      for (std::int64_t i = 0; i < in_row; ++i)
        line[i] = static_cast<float>(a[i]) * y.weight[0] + static_cast<float>(b[i]) * y.weight[1] + static_cast<float>(c[i]) * y.weight[2] +
                  static_cast<float>(d[i]) * y.weight[3];
      float* to = out + at * out_row;
      for (const Taps& x : columns) {
        const float *p = line + x.pixel[0] * r.channels, *q = line + x.pixel[1] * r.channels, *s = line + x.pixel[2] * r.channels,
                    *t = line + x.pixel[3] * r.channels;
        for (std::int64_t k = 0; k < r.channels; ++k) *to++ = p[k] * x.weight[0] + q[k] * x.weight[1] + s[k] * x.weight[2] + t[k] * x.weight[3];
      }
    }
  });
}

template <class T>
void spread(const Resize& r, const ResizeOptions& o, const float* gradient, T* out) {
  if (r.nothing()) return;
  const auto rows = taps(o, r.in_height, r.out_height), columns = taps(o, r.in_width, r.out_width);
  std::fill_n(out, r.batch * r.in_size(), T(0));
  for (std::int64_t b = 0; b < r.batch; ++b, out += r.in_size())
    for (const Taps& y : rows)
      for (const Taps& x : columns)
        for (std::int64_t c = 0; c < r.channels; ++c, ++gradient)
          for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j)
              out[(y.pixel[i] * r.in_width + x.pixel[j]) * r.channels + c] += static_cast<T>(*gradient) * y.weight[i] * x.weight[j];
}

}  // namespace

void add_resize_bicubic(Registry& ops) {
  ops.add("ResizeBicubic", reals{},
          []<class T>(Call& call, In<T> image, In<std::int32_t> size, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) -> Status {
            const ResizeOptions options{*corners, *half_pixel};
            TRY(options.check());
            TRY_ASSIGN(auto r, resize_sizes(image.shape(), size));
            resize(r, options, image.data(), call.alloc<float>(0, r.output()));
            return absl::OkStatus();
          });
  ops.add("ResizeBicubicGrad", full_floats{},
          []<class T>(Call& call, In<float> gradient, In<T> original, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) -> Status {
            const ResizeOptions options{*corners, *half_pixel};
            TRY(options.check());
            TRY_ASSIGN(auto r, resize_gradient_sizes(gradient.shape(), original.shape()));
            spread(r, options, gradient.data(), call.alloc<T>(0, original.shape()));
            return absl::OkStatus();
          });
  ops.cost({"ResizeBicubic", "ResizeBicubicGrad"}, 60);
}

}  // namespace troupe
