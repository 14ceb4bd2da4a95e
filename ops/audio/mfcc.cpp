// Mfcc: spectrograms to mel-frequency cepstral coefficients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <cmath>
#include <numbers>

namespace troupe {
namespace {

struct MfccOptions {
  double lower = 20, upper = 4000;
  std::int64_t bands = 40, coefficients = 13;

  static StatusOr<MfccOptions> make(Binding& binding) {
    MfccOptions o;
    TRY_ASSIGN(const auto upper, binding.attr<float>("upper_frequency_limit"));
    TRY_ASSIGN(const auto lower, binding.attr<float>("lower_frequency_limit"));
    TRY_ASSIGN(o.bands, binding.attr<std::int64_t>("filterbank_channel_count"));
    TRY_ASSIGN(o.coefficients, binding.attr<std::int64_t>("dct_coefficient_count"));
    o.upper = static_cast<double>(upper);
    o.lower = static_cast<double>(lower);
    constexpr std::int64_t most = 1 << 20;
    if (o.bands > most || o.coefficients > most) return resource_exhausted("Too many bands or coefficients: {} and {}", o.bands, o.coefficients);
    return o;
  }
};

double mel(double frequency) { return 1127.0 * std::log1p(frequency / 700.0); }

/// Overlapping triangles of equal width on the mel scale; each bin of a spectrogram belongs to two of them.
class MelBank {
 public:
  MelBank(std::int64_t bins, double rate, const MfccOptions& o) : bands_(o.bands) {
    const double low = mel(o.lower), spacing = (mel(o.upper) - low) / static_cast<double>(bands_ + 1);
    std::vector<double> centers;
    for (std::int64_t i = 0; i <= bands_; ++i) centers.push_back(low + spacing * static_cast<double>(i + 1));
    const double hertz = 0.5 * rate / static_cast<double>(bins - 1);
    first_ = static_cast<std::int64_t>(std::min(1.5 + o.lower / hertz, 1e15));
    last_ = std::min(static_cast<std::int64_t>(std::min(o.upper / hertz, 1e15)), bins - 1);
    std::int64_t band = 0;
    for (std::int64_t i = first_; i <= last_; ++i) {
      const double at = mel(static_cast<double>(i) * hertz);
      while (band < bands_ && centers[static_cast<std::size_t>(band)] < at) ++band;
      const double right = centers[static_cast<std::size_t>(band)], left = band > 0 ? centers[static_cast<std::size_t>(band - 1)] : low;
      slots_.push_back({band - 1, (right - at) / (right - left)});
    }
  }

  void run(const float* bins, std::vector<double>& out) const {
    out.assign(static_cast<std::size_t>(bands_), 0.0);
    for (std::int64_t i = first_; i <= last_; ++i) {
      const auto [band, weight] = slots_[static_cast<std::size_t>(i - first_)];
      const double strength = std::sqrt(static_cast<double>(bins[i])), weighted = strength * weight;
      if (band >= 0) out[static_cast<std::size_t>(band)] += weighted;
      if (band + 1 < bands_) out[static_cast<std::size_t>(band + 1)] += strength - weighted;
    }
  }

 private:
  struct Slot {
    std::int64_t band;  // the lower of the two; -1 below the first
    double weight;      // for that one
  };
  std::int64_t bands_, first_ = 0, last_ = -1;
  std::vector<Slot> slots_;
};

std::vector<double> cosines(const MfccOptions& o) {
  std::vector<double> table;
  const double scale = std::sqrt(2.0 / static_cast<double>(o.bands)), arc = std::numbers::pi / static_cast<double>(o.bands);
  for (std::int64_t i = 0; i < o.coefficients; ++i)
    for (std::int64_t j = 0; j < o.bands; ++j) table.push_back(scale * std::cos(static_cast<double>(i) * arc * (static_cast<double>(j) + 0.5)));
  return table;
}

Status mfcc(Call& call, const In<float>& spectrogram, const In<std::int32_t>& rate, const MfccOptions& o) {
  if (spectrogram.dims() != 3) return invalid("spectrogram must be 3-dimensional{}", spectrogram.shape());
  if (rate.size() != 1) return invalid("Input sample_rate should be a scalar tensor, got {} instead.", rate.shape());
  const std::int64_t bins = spectrogram.dim(2), rows = spectrogram.dim(0) * spectrogram.dim(1);
  const bool fits = o.bands >= 1 && rate[0] > 0 && bins >= 2 && o.lower >= 0 && o.upper > o.lower && o.coefficients >= 1 && o.coefficients <= o.bands;
  if (!fits)
    return invalid("Mfcc initialization failed for channel count {}, sample rate {} and filterbank_channel_count {}", bins, rate[0], o.bands);
  TRY_ASSIGN(const Shape shape, Shape::checked(std::vector<std::int64_t>{spectrogram.dim(0), spectrogram.dim(1), o.coefficients}));
  float* out = call.alloc<float>(0, shape);
  const MelBank bank(bins, static_cast<double>(rate[0]), o);
  const std::vector<double> table = cosines(o);
  std::vector<double> bands;
  for (std::int64_t r = 0; r < rows; ++r) {
    bank.run(spectrogram.data() + r * bins, bands);
    for (double& x : bands) x = std::log(x < 1e-12 ? 1e-12 : x);
    for (std::int64_t i = 0; i < o.coefficients; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < o.bands; ++j) sum += table[static_cast<std::size_t>(i * o.bands + j)] * bands[static_cast<std::size_t>(j)];
      *out++ = static_cast<float>(sum);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void add_mfcc(Registry& ops) {
  ops.add("Mfcc", [](Call& call, In<float> spectrogram, In<std::int32_t> rate, const MfccOptions& o) { return mfcc(call, spectrogram, rate, o); });
  ops.cost({"Mfcc"}, 20);
}

}  // namespace troupe
