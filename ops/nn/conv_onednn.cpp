// Splits convolutions into those of fewer images or rows, which run at once.
#include <troupe/ops/nn/conv_onednn.hpp>

#include <troupe/ops/nn/conv_primitives.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

namespace troupe::onednn {

namespace {

// What a multiplication with its addition costs, roughly.
constexpr double mac_ns = 0.015;
// A few images are cut into bands of rows, such that there are about this many pieces.
constexpr std::int64_t enough_pieces = 8;
// A filter's gradient is summed up in a few places at once, if they are not too large and the work is worth it.
constexpr std::int64_t sum_bytes = 1 << 26, most_sums = 8;
constexpr double sum_ns = 100'000;

double ns_of_image(const Convolution& c) {
  return mac_ns * static_cast<double>(c.positions() * c.taps()) * static_cast<double>(c.group_channels() * c.out_channels);
}
std::int64_t image_size(const Convolution& c) { return c.inputs() * c.in_channels; }
std::int64_t output_size(const Convolution& c) { return c.positions() * c.out_channels; }
std::int64_t filter_size(const Convolution& c) { return c.taps() * c.group_channels() * c.out_channels; }

Convolution of_images(Convolution c, std::int64_t images) {
  c.batch = images;
  return c;
}

/// The part of a dimension that outputs [first, last) see.
Window cut(const Window& w, std::int64_t first, std::int64_t last, std::int64_t& begin) {
  Window part = w;
  part.output = last - first;
  begin = std::clamp<std::int64_t>(w.begin(first), 0, w.input - 1);
  const std::int64_t end = std::clamp<std::int64_t>(w.begin(last - 1) + w.reach(), begin + 1, w.input);
  part.input = end - begin;
  part.before = begin - w.begin(first);
  part.after = std::max<std::int64_t>(0, w.begin(last - 1) + w.reach() - end);
  return part;
}

/// Runs of consecutive images share a filter that was brought into order once.
class SharedFilter {
 public:
  SharedFilter(const Primitive& first, const float* plain) : desc_(first.filter), plain_(plain), data_(first.blocked(plain, memory_)) {}
  /// The same for another primitive, which may want another order.
  const float* for_primitive(const Primitive& p, std::unique_ptr<Scratch>& memory) const {
    return p.filter == desc_ ? data_ : p.blocked(plain_, memory);
  }

 private:
  std::unique_ptr<Scratch> memory_;
  dnnl::memory::desc desc_;
  const float *plain_, *data_;
};

/// Output rows [first, last) of one image. False where the band is no convolution that oneDNN serves.
bool convolve_band(const Convolution& c, const float* image, const SharedFilter& filter, float* output, std::int64_t first, std::int64_t last) {
  Convolution band = of_images(c, 1);
  std::int64_t row = 0;
  band.window[1] = cut(c.window[1], first, last, row);
  const auto primitive = primitive_for(band, Direction::forward);
  if (!primitive) return false;
  std::unique_ptr<Scratch> memory;
  const std::int64_t in_row = c.window[2].input * c.in_channels, out_row = c.window[2].output * c.out_channels;
  (*primitive)(Direction::forward, image + row * in_row, filter.for_primitive(*primitive, memory), output + first * out_row);
  return true;
}

bool convolve_bands(const Convolution& c, const Primitive& whole, const float* input, const float* filter, float* output) {
  const std::int64_t rows = c.window[1].output, bands = std::min(rows, enough_pieces / c.batch);
  const SharedFilter shared(whole, filter);
  std::atomic<bool> served{true};
  in_parallel(c.batch * bands, ns_of_image(c) / static_cast<double>(bands), [&](std::int64_t from, std::int64_t to) {
    while (from < to) {
      const std::int64_t image = from / bands, end = std::min(to, (image + 1) * bands);
      const std::int64_t first = from % bands * rows / bands, last = (end - image * bands) * rows / bands;
      if (!convolve_band(c, input + image * image_size(c), shared, output + image * output_size(c), first, last)) served = false;
      from = end;
    }
  });
  return served;
}

}  // namespace

bool convolve(const Convolution& c, const float* input, const float* filter, float* output) {
  const auto whole = primitive_for(of_images(c, 1), Direction::forward);
  if (!whole) return false;
  const bool flat = c.window[0].input == 1 && c.window[0].output == 1 && c.window[0].filter == 1;
  if (flat && c.batch < enough_pieces / 2 && ns_of_image(c) * static_cast<double>(c.batch) > sum_ns)
    return convolve_bands(c, *whole, input, filter, output);
  const SharedFilter shared(*whole, filter);
  std::atomic<bool> served{true};
  in_parallel(c.batch, ns_of_image(c), Cut::fine, [&](std::int64_t from, std::int64_t to) {
    const auto primitive = primitive_for(of_images(c, to - from), Direction::forward);
    std::unique_ptr<Scratch> memory;
    if (!primitive) served = false;
    else (*primitive)(Direction::forward, input + from * image_size(c), shared.for_primitive(*primitive, memory), output + from * output_size(c));
  });
  return served;
}

bool convolve_back(const Convolution& c, const float* filter, const float* gradient, float* input) {
  const auto whole = primitive_for(of_images(c, 1), Direction::input_gradient);
  if (!whole) return false;
  const SharedFilter shared(*whole, filter);
  std::atomic<bool> served{true};
  in_parallel(c.batch, ns_of_image(c), Cut::fine, [&](std::int64_t from, std::int64_t to) {
    const auto primitive = primitive_for(of_images(c, to - from), Direction::input_gradient);
    std::unique_ptr<Scratch> memory;
    if (!primitive) served = false;
    else
      (*primitive)(Direction::input_gradient, input + from * image_size(c), shared.for_primitive(*primitive, memory),
                   gradient + from * output_size(c));
  });
  return served;
}

bool correlate(const Convolution& c, const float* input, const float* gradient, float* filter) {
  const std::int64_t size = filter_size(c);
  // As many sums whatever the number of threads, added in order: the result does not depend on who computed what.
  const std::int64_t most = std::min({most_sums, c.batch, sum_bytes / (size * static_cast<std::int64_t>(sizeof(float)))});
  const std::int64_t sums =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(ns_of_image(c) * static_cast<double>(c.batch) / sum_ns), 1, std::max<std::int64_t>(1, most));
  std::vector<float> others(static_cast<std::size_t>((sums - 1) * size));
  std::atomic<bool> served{true};
  in_parallel(sums, ns_of_image(c) * static_cast<double>(c.batch) / static_cast<double>(sums), Cut::fine, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t s = from; s < to && served; ++s) {
      const std::int64_t first = c.batch * s / sums, last = c.batch * (s + 1) / sums;
      const auto primitive = primitive_for(of_images(c, last - first), Direction::filter_gradient);
      if (!primitive) served = false;
      else primitive->gradient(input + first * image_size(c), gradient + first * output_size(c), s == 0 ? filter : others.data() + (s - 1) * size);
    }
  });
  if (!served) return false;
  for (std::int64_t s = 1; s < sums; ++s)
    for (std::int64_t i = 0; i < size; ++i) filter[i] += others[static_cast<std::size_t>((s - 1) * size + i)];
  return true;
}

}  // namespace troupe::onednn
