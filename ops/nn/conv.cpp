// Convolutions by oneDNN where it serves, otherwise as matrix products over patches of the input.
#include <troupe/ops/nn/conv.hpp>

#include <troupe/ops/nn/conv_onednn.hpp>
#include <troupe/ops/nn/gemm.hpp>
#include <troupe/ops/nn/wide.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

// Patches are unfolded this many bytes at a time, so that they stay in the cache.
constexpr std::int64_t patch_bytes = 1 << 20;
// A filter's gradient is summed up in a few places at once, if they are not too large.
constexpr std::int64_t sum_bytes = 1 << 24, most_sums = 8;

/// Position of an output along the three spatial dimensions.
struct At {
  std::int64_t z, y, x;
  static At of(const Convolution& c, std::int64_t position) {
    const std::int64_t w = c.window[2].output, h = c.window[1].output;
    return {position / (w * h), position / w % h, position % w};
  }
};

/// Calls tap(offset of the input's pixel or -1 outside of it) for each tap of the filter in order.
template <class Tap>
void for_each_tap(const Convolution& c, const At& at, Tap&& tap) {
  const auto& [wz, wy, wx] = c.window;
  const std::int64_t z0 = wz.begin(at.z), y0 = wy.begin(at.y), x0 = wx.begin(at.x);
  for (std::int64_t i = 0; i < wz.filter; ++i) {
    const std::int64_t z = z0 + i * wz.dilation;
    for (std::int64_t j = 0; j < wy.filter; ++j) {
      const std::int64_t y = y0 + j * wy.dilation;
      const bool row = z >= 0 && z < wz.input && y >= 0 && y < wy.input;
      for (std::int64_t k = 0; k < wx.filter; ++k) {
        const std::int64_t x = x0 + k * wx.dilation;
        tap(row && x >= 0 && x < wx.input ? (z * wy.input + y) * wx.input + x : -1);
      }
    }
  }
}

/// The taps of images with one channel, one row each: neighbouring positions see neighbouring pixels, so rows of the image are copied whole.
template <class T>
void unfold_rows(const Convolution& c, const T* image, std::int64_t first, std::int64_t last, T* taps) {
  const auto& [wz, wy, wx] = c.window;
  for (std::int64_t i = 0; i < wz.filter; ++i)
    for (std::int64_t j = 0; j < wy.filter; ++j)
      for (std::int64_t k = 0; k < wx.filter; ++k)
        for (std::int64_t p = first; p < last;) {
          const At at = At::of(c, p);
          const std::int64_t n = std::min(wx.output - at.x, last - p);
          const std::int64_t z = wz.begin(at.z) + i * wz.dilation, y = wy.begin(at.y) + j * wy.dilation, x = wx.begin(at.x) + k * wx.dilation;
          const bool inside = z >= 0 && z < wz.input && y >= 0 && y < wy.input;
          // Of these n outputs, those before `from` and from `to` on look beside the image.
          const std::int64_t from = inside ? std::clamp<std::int64_t>((wx.stride - 1 - x) / wx.stride, 0, n) : n;
          const std::int64_t to = inside ? std::clamp<std::int64_t>((wx.input - x + wx.stride - 1) / wx.stride, from, n) : n;
          const T* row = image + (z * wy.input + y) * wx.input + x;
          std::fill_n(taps, from, T(0));
          for (std::int64_t q = from; q < to; ++q) taps[q] = row[q * wx.stride];
          std::fill(taps + to, taps + n, T(0));
          taps += n;
          p += n;
        }
}

/// How unfold leaves the patches: a row each, or, where there is one channel, a column each.
Side side_of_patches(const Convolution& c) { return c.in_channels == 1 ? Side::transposed : Side::plain; }

/// Copies the patches of positions [first, last) of one image and group.
template <class T>
void unfold(const Convolution& c, const T* image, std::int64_t group, std::int64_t first, std::int64_t last, T* patches) {
  if (c.in_channels == 1) return unfold_rows(c, image, first, last, patches);
  const std::int64_t channels = c.group_channels();
  for (std::int64_t p = first; p < last; ++p)
    for_each_tap(c, At::of(c, p), [&](std::int64_t pixel) {
      if (pixel < 0) std::fill_n(patches, channels, T(0));
      else std::copy_n(image + pixel * c.in_channels + group * channels, channels, patches);
      patches += channels;
    });
}

/// Adds the patches back to where they came from.
template <class T>
void fold(const Convolution& c, const T* patches, std::int64_t first, std::int64_t last, T* image) {
  for (std::int64_t p = first; p < last; ++p)
    for_each_tap(c, At::of(c, p), [&](std::int64_t pixel) {
      if (pixel >= 0)
        for (std::int64_t i = 0; i < c.in_channels; ++i) image[pixel * c.in_channels + i] += patches[i];
      patches += c.in_channels;
    });
}

/// A filter of one tap that visits every pixel: the input is its own matrix of patches.
bool is_pointwise(const Convolution& c) {
  return c.groups == 1 && std::all_of(c.window.begin(), c.window.end(),
                                      [](const Window& w) { return w.filter == 1 && w.stride == 1 && w.before == 0 && w.after == 0; });
}

/// A convolution cut into pieces whose patches fit in patch_bytes.
template <class T>
struct Pieces {
  struct Piece {
    std::int64_t image, first, last;
  };
  const Convolution& c;
  std::int64_t patch, step, per_image;

  explicit Pieces(const Convolution& conv) : c(conv), patch(std::max<std::int64_t>(1, c.taps() * c.group_channels())) {
    const std::int64_t positions = std::max<std::int64_t>(1, c.positions());
    step = std::clamp<std::int64_t>(patch_bytes / (patch * static_cast<std::int64_t>(sizeof(T))), 1, positions);
    per_image = (positions + step - 1) / step;
  }
  std::int64_t count() const { return c.batch * per_image; }
  Piece operator[](std::int64_t i) const {
    const std::int64_t first = i % per_image * step;
    return {i / per_image, first, std::min(first + step, c.positions())};
  }
  std::vector<T> memory() const { return std::vector<T>(static_cast<std::size_t>(patch * step)); }
  double ns_each() const { return 0.03 * static_cast<double>(patch * step * (c.out_channels / c.groups + 16)); }
};

template <class T>
void convolve_group(const Convolution& c, const T* input, const T* filter, T* output, std::int64_t group) {
  const std::int64_t patch = c.taps() * c.group_channels(), columns = c.out_channels / c.groups;
  std::vector<T> own_filter;
  if (c.groups > 1) {
    own_filter.resize(static_cast<std::size_t>(patch * columns));
    for (std::int64_t i = 0; i < patch; ++i) std::copy_n(filter + i * c.out_channels + group * columns, columns, own_filter.data() + i * columns);
    filter = own_filter.data();
  }
  const Pieces<T> pieces(c);
  in_parallel(pieces.count(), pieces.ns_each(), [&](std::int64_t from, std::int64_t to) {
    std::vector<T> patches = pieces.memory(), products;
    for (std::int64_t i = from; i < to; ++i) {
      const auto [b, first, last] = pieces[i];
      unfold(c, input + b * c.inputs() * c.in_channels, group, first, last, patches.data());
      T* out = output + (b * c.positions() + first) * c.out_channels;
      const GemmSizes sizes{last - first, patch, columns};
      if (c.groups > 1) products.resize(static_cast<std::size_t>(sizes.elements()));
      gemm(sizes, patches.data(), side_of_patches(c), filter, Side::plain, c.groups > 1 ? products.data() : out);
      if (c.groups == 1) continue;
      for (std::int64_t p = 0; p < last - first; ++p) std::copy_n(products.data() + p * columns, columns, out + p * c.out_channels + group * columns);
    }
  });
}

template <class T>
void forward(const Convolution& c, const T* input, const T* filter, T* output) {
  if (is_pointwise(c)) return gemm<T>({c.batch * c.positions(), c.in_channels, c.out_channels}, input, Side::plain, filter, Side::plain, output);
  if constexpr (std::is_same_v<T, float>)
    if (onednn::convolve(c, input, filter, output)) return;
  for (std::int64_t g = 0; g < c.groups; ++g) convolve_group(c, input, filter, output, g);
}

template <class T>
void backward(const Convolution& c, const T* filter, const T* gradient, T* input) {
  const std::int64_t patch = c.taps() * c.in_channels;
  if (is_pointwise(c)) return gemm<T>({c.batch * c.positions(), c.out_channels, patch}, gradient, Side::plain, filter, Side::transposed, input);
  if constexpr (std::is_same_v<T, float>)
    if (onednn::convolve_back(c, filter, gradient, input)) return;
  std::fill_n(input, c.batch * c.inputs() * c.in_channels, T(0));
  const Pieces<T> pieces(c);
  // Neighbouring pieces of an image add to the same pixels: an image stays on one thread.
  in_parallel(c.batch, pieces.ns_each() * static_cast<double>(pieces.per_image), [&](std::int64_t from, std::int64_t to) {
    std::vector<T> patches = pieces.memory();
    for (std::int64_t i = from * pieces.per_image; i < to * pieces.per_image; ++i) {
      const auto [b, first, last] = pieces[i];
      gemm<T>({last - first, c.out_channels, patch}, gradient + (b * c.positions() + first) * c.out_channels, Side::plain, filter, Side::transposed,
              patches.data());
      fold(c, patches.data(), first, last, input + b * c.inputs() * c.in_channels);
    }
  });
}

template <class T>
void filter_gradient(const Convolution& c, const T* input, const T* gradient, T* filter) {
  const std::int64_t patch = c.taps() * c.in_channels, size = patch * c.out_channels;
  if (is_pointwise(c)) return gemm<T>({patch, c.batch * c.positions(), c.out_channels}, input, Side::transposed, gradient, Side::plain, filter);
  const Pieces<T> pieces(c);
  if (pieces.count() == 0 || size == 0) return void(std::fill_n(filter, size, T(0)));
  if constexpr (std::is_same_v<T, float>)
    if (onednn::correlate(c, input, gradient, filter)) return;
  // As many sums whatever the number of threads, added in order: the result does not depend on who computed what.
  const std::int64_t sums =
      std::clamp<std::int64_t>(sum_bytes / (size * static_cast<std::int64_t>(sizeof(T))), 1, std::min(most_sums, pieces.count()));
  std::vector<T> others(static_cast<std::size_t>((sums - 1) * size));
  in_parallel(sums, pieces.ns_each() * static_cast<double>(pieces.count() / sums), [&](std::int64_t from, std::int64_t to) {
    std::vector<T> patches = pieces.memory();
    for (std::int64_t s = from; s < to; ++s) {
      T* sum = s == 0 ? filter : others.data() + (s - 1) * size;
      const std::int64_t begin = pieces.count() * s / sums, end = pieces.count() * (s + 1) / sums;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto [b, first, last] = pieces[i];
        unfold(c, input + b * c.inputs() * c.in_channels, 0, first, last, patches.data());
        gemm<T>({patch, last - first, c.out_channels}, patches.data(), c.in_channels == 1 ? Side::plain : Side::transposed,
                gradient + (b * c.positions() + first) * c.out_channels, Side::plain, sum, i > begin);
      }
    }
  });
  for (std::int64_t s = 1; s < sums; ++s)
    for (std::int64_t i = 0; i < size; ++i) filter[i] += others[static_cast<std::size_t>((s - 1) * size + i)];
}

/// Runs f on operands of type Wide<T>, rounding its result once.
template <class T, class F>
void widened(const T* a, std::int64_t a_size, const T* b, std::int64_t b_size, T* out, std::int64_t out_size, F f) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    f(a, b, out);
  } else {
    std::vector<float> x(a, a + a_size), y(b, b + b_size), z(static_cast<std::size_t>(out_size));
    f(x.data(), y.data(), z.data());
    std::transform(z.begin(), z.end(), out, [](float v) { return static_cast<T>(v); });
  }
}

struct Sizes {
  std::int64_t input, filter, output;
  explicit Sizes(const Convolution& c)
      : input(c.batch * c.inputs() * c.in_channels),
        filter(c.taps() * c.group_channels() * c.out_channels),
        output(c.batch * c.positions() * c.out_channels) {}
};

}  // namespace

template <class T>
void convolve(const Convolution& conv, const T* input, const T* filter, T* output) {
  const Sizes s(conv);
  widened(input, s.input, filter, s.filter, output, s.output, [&](auto* x, auto* w, auto* y) { forward(conv, x, w, y); });
}
template <class T>
void convolve_back(const Convolution& conv, const T* filter, const T* gradient, T* input) {
  const Sizes s(conv);
  widened(filter, s.filter, gradient, s.output, input, s.input, [&](auto* w, auto* g, auto* x) { backward(conv, w, g, x); });
}
template <class T>
void correlate(const Convolution& conv, const T* input, const T* gradient, T* filter) {
  const Sizes s(conv);
  widened(input, s.input, gradient, s.output, filter, s.filter, [&](auto* x, auto* g, auto* w) { filter_gradient(conv, x, g, w); });
}

#define TROUPE_CONV(T)                                                        \
  template void convolve<T>(const Convolution&, const T*, const T*, T*);      \
  template void convolve_back<T>(const Convolution&, const T*, const T*, T*); \
  template void correlate<T>(const Convolution&, const T*, const T*, T*);
TROUPE_CONV(half)
TROUPE_CONV(bfloat16)
TROUPE_CONV(float)
TROUPE_CONV(double)
TROUPE_CONV(std::int32_t)
#undef TROUPE_CONV

}  // namespace troupe
