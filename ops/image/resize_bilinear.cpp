// Bilinear resizing and its gradient.
#include <troupe/ops/image/resize.hpp>
#include <troupe/ops/parallel.hpp>

#include <array>
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
    found.push_back({std::clamp<std::int64_t>(static_cast<std::int64_t>(floor), 0, in - 1),
                     std::min(static_cast<std::int64_t>(std::ceil(at)), in - 1), at - floor});
  }
  return found;
}

/// Rows of an image that have been resized in width already; neighbouring rows of the output share them.
template <class T>
class Widened {
 public:
  Widened(const Resize& r, const std::vector<Between>& columns) : r_(r), columns_(columns) {
    for (auto& row : rows_) row.resize(static_cast<std::size_t>(r.out_width * r.channels));
  }
  /// The row of that number, which stays what it is until two others have been asked for.
  const float* row(const T* image, std::int64_t number) {
    const T* from = image + number * r_.in_width * r_.channels;
    for (std::size_t i = 0; i < 2; ++i)
      if (from_[i] == from) {
        latest_ = i;
        return rows_[i].data();
      }
    latest_ = 1 - latest_;
    from_[latest_] = from;
    widen(from, rows_[latest_].data());
    return rows_[latest_].data();
  }

 private:
  void widen(const T* from, float* to) const {
    for (const Between& x : columns_) {
      const T *left = from + x.lower * r_.channels, *right = from + x.upper * r_.channels;
      for (std::int64_t c = 0; c < r_.channels; ++c) {
        const float l = static_cast<float>(left[c]);
        *to++ = l + (static_cast<float>(right[c]) - l) * x.share;
      }
    }
  }

  const Resize& r_;
  const std::vector<Between>& columns_;
  std::array<std::vector<float>, 2> rows_;
  std::array<const T*, 2> from_{};
  std::size_t latest_ = 0;
};

template <class T>
void resize(const Resize& r, const ResizeOptions& o, const T* in, float* out) {
  if (r.nothing()) return;
  const auto rows = between(o, r.in_height, r.out_height), columns = between(o, r.in_width, r.out_width);
  const std::int64_t size = r.out_width * r.channels;
  in_parallel(r.batch * r.out_height, 2.0 * static_cast<double>(size), [&](std::int64_t first, std::int64_t last) {
    Widened<T> widened(r, columns);
    for (std::int64_t at = first; at < last; ++at) {
      const T* image = in + at / r.out_height * r.in_size();
      const Between& y = rows[static_cast<std::size_t>(at % r.out_height)];
      const float *upper = widened.row(image, y.lower), *lower = widened.row(image, y.upper);
      float* to = out + at * size;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < size; ++i) to[i] = upper[i] + (lower[i] - upper[i]) * y.share;
    }
  });
}

/// The same in whole numbers, for stored ones: shares have so many bits, and what is left of a division is dropped.
template <class T>
void resize_stored(const Resize& r, const ResizeOptions& o, const T* in, T* out) {
  constexpr std::int64_t one = std::int64_t{1} << (sizeof(T) == 1 ? 7 : 30);
  const auto rows = between(o, r.in_height, r.out_height), columns = between(o, r.in_width, r.out_width);
  const auto bits = [](float share) { return static_cast<std::int64_t>(share * static_cast<float>(one)); };
  for (std::int64_t b = 0; b < r.batch; ++b, in += r.in_size())
    for (const Between& y : rows) {
      const T *top = in + y.lower * r.in_width * r.channels, *bottom = in + y.upper * r.in_width * r.channels;
      for (const Between& x : columns)
        for (std::int64_t c = 0; c < r.channels; ++c) {
          const std::int64_t left = x.lower * r.channels + c, right = x.upper * r.channels + c;
          const auto across = [&](const T* row) {
            const std::int64_t from = row[left].value, to = row[right].value;
            return from * one + (to - from) * bits(x.share);
          };
          const std::int64_t upper = across(top), lower = across(bottom);
          const std::int64_t whole = upper + (lower - upper) / one * bits(y.share);
          (out++)->value = static_cast<decltype(out->value)>((whole + one / 2) / one);
        }
    }
}

/// An image without pixels has no range either.
template <class T>
Status resize_quantized(Call& call, const In<T>& image, const In<std::int32_t>& size, const Any& low, const Any& high, const ResizeOptions& options) {
  if (low->rank() != 0) return invalid("min must be a scalar");
  if (high->rank() != 0) return invalid("max must be a scalar");
  TRY_ASSIGN(const auto r, resize_sizes(image.shape(), size));
  T* out = call.alloc<T>(0, r.output());
  if (r.nothing()) return internal("Missing 1-th output from {{{{node {}}}}}", call.node().name);
  if constexpr (std::is_same_v<T, float>) resize(r, options, image.data(), out);
  else resize_stored(r, options, image.data(), out);
  call.set_scalar<float>(1, low->item<float>());
  call.set_scalar<float>(2, high->item<float>());
  return absl::OkStatus();
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
  ops.add("QuantizedResizeBilinear", types<quint8, qint32, float>{},
          []<class T>(Call& call, In<T> image, In<std::int32_t> size, Any low, Any high, Attr<"align_corners", bool> corners,
                      Attr<"half_pixel_centers", bool> half_pixel) {
            return resize_quantized(call, image, size, low, high, {*corners, *half_pixel});
          });
  ops.cost({"ResizeBilinear", "ResizeBilinearGrad"}, 20);
}

}  // namespace troupe
