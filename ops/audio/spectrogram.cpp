// AudioSpectrogram: how strong each frequency is in overlapping windows of sound.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/linalg/fourier.hpp>
#include <troupe/ops/nn/options.hpp>

#include <bit>
#include <cmath>
#include <numbers>

namespace troupe {
namespace {

struct SpectrogramOptions {
  std::int64_t window = 0, stride = 0;
  bool squared = false;

  static StatusOr<SpectrogramOptions> make(Binding& binding) {
    SpectrogramOptions o;
    TRY_ASSIGN(o.window, binding.attr<std::int64_t>("window_size"));
    TRY_ASSIGN(o.stride, binding.attr<std::int64_t>("stride"));
    TRY_ASSIGN(o.squared, binding.attr<bool>("magnitude_squared"));
    return o;
  }
};

/// A period of the Hann window.
std::vector<double> hann(std::int64_t n) {
  std::vector<double> window(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    window[static_cast<std::size_t>(i)] = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  return window;
}

Status spectrogram(Call& call, const In<float>& audio, const SpectrogramOptions& o) {
  if (audio.dims() != 2) return invalid("input must be 2-dimensional{}", audio.shape());
  constexpr std::int64_t largest = std::int64_t{1} << 26;
  if (o.window < 2 || o.stride < 1) return invalid("Spectrogram initialization failed for window size {} and stride {}", o.window, o.stride);
  if (o.window > largest) return resource_exhausted("A window of {} samples is too long", o.window);
  const std::int64_t samples = audio.dim(0), channels = audio.dim(1);
  const auto length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(o.window)));
  const std::int64_t bins = 1 + length / 2, rows = samples < o.window ? 0 : 1 + (samples - o.window) / o.stride;
  TRY_ASSIGN(const Shape shape, Shape::checked(std::vector<std::int64_t>{channels, rows, bins}));
  float* out = call.alloc<float>(0, shape);
  const std::vector<double> window = hann(o.window);
  Fourier fourier(length, false);
  std::vector<std::complex<double>> values(static_cast<std::size_t>(length));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t r = 0; r < rows; ++r) {
      std::fill(values.begin(), values.end(), std::complex<double>());
      for (std::int64_t i = 0; i < o.window; ++i)
        values[static_cast<std::size_t>(i)] = static_cast<double>(audio[(r * o.stride + i) * channels + c]) * window[static_cast<std::size_t>(i)];
      fourier.run(values.data());
      for (std::int64_t i = 0; i < bins; ++i) {
        const auto power = static_cast<float>(std::norm(values[static_cast<std::size_t>(i)]));
        *out++ = o.squared ? power : std::sqrt(power);
      }
    }
  return absl::OkStatus();
}

}  // namespace

void add_spectrogram(Registry& ops) {
  ops.add("AudioSpectrogram", [](Call& call, In<float> audio, const SpectrogramOptions& o) { return spectrogram(call, audio, o); });
  ops.cost({"AudioSpectrogram"}, 100);
}

}  // namespace troupe
