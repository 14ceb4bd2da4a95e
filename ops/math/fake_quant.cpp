// FakeQuantWithMinMax*: the rounding that quantisation would do, on floats, and its gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

/// The range moved so that zero is one of its steps.
struct Nudged {
  float low, high, step;
  bool holds(float x) const { return x >= low && x <= high; }
};

struct Bits {
  int lowest, highest;
};

StatusOr<Bits> bits_of(std::int64_t num_bits, bool narrow) {
  if (num_bits < 2 || num_bits > 16) return invalid("num_bits must be between 2 and 16, inclusive");
  return Bits{narrow ? 1 : 0, (1 << num_bits) - 1};
}

Nudged nudge(float low, float high, Bits bits) {
  const auto lowest = static_cast<float>(bits.lowest), highest = static_cast<float>(bits.highest);
  const float step = (high - low) / (highest - lowest);
  const float zero = lowest - low / step;
  const float nudged = zero < lowest ? lowest : zero > highest ? highest : std::round(zero);
  return {(lowest - nudged) * step, (highest - nudged) * step, step};
}

/// Ties depend on how the place is computed: by a division, or by a product with the inverse.
float quantized(float x, const Nudged& range, bool divides = false) {
  const float inside = std::min(std::max(x, range.low), range.high) - range.low, inverse = 1.0f / range.step;
  const float zero = std::floor(-range.low * inverse + 0.5f);
  return std::floor((divides ? inside / range.step : inside * inverse) - zero + 0.5f) * range.step;
}

StatusOr<Nudged> fixed_range(float low, float high, std::int64_t num_bits, bool narrow) {
  TRY_ASSIGN(const Bits bits, bits_of(num_bits, narrow));
  if (!(low < high)) return invalid("min has to be smaller than max, was: {} >= {}", low, high);
  return nudge(low, high, bits);
}

Status fake_quant(Call& call, const In<float>& x, const Nudged& range) {
  float* out = call.alloc<float>(0, x.shape());
  const float* from = x.data();
  // A copy of the range, which nothing that is written can change.
  in_parallel(x.size(), 0.5, [from, out, range](std::int64_t first, std::int64_t last) {
    const Nudged own = range;
#pragma GCC ivdep
    for (std::int64_t i = first; i < last; ++i) out[i] = quantized(from[i], own);
  });
  return absl::OkStatus();
}

Status check_rank(const In<float>& t, const char* name, int rank) {
  if (t.dims() != rank) return invalid("`{}` must be rank {} but is rank {}", name, rank, t.dims());
  return absl::OkStatus();
}

Status check_channels(const In<float>& x, const In<float>& low, const In<float>& high) {
  TRY(check_rank(low, "min", 1));
  TRY(check_rank(high, "max", 1));
  if (x.dims() < 1) return invalid("inputs must be at least rank 1 but is rank 0");
  const std::int64_t depth = x.dim(x.dims() - 1);
  if (low.size() != depth) return invalid("min has incorrect size, expected {} was {}", depth, low.size());
  if (high.size() != depth) return invalid("max has incorrect size, expected {} was {}", depth, high.size());
  return absl::OkStatus();
}

/// One channel of `count` that lie side by side. A range of nothing gives zeros.
void quantize_channel(const float* x, std::int64_t n, std::int64_t count, float low, float high, Bits bits, bool divides, float* out) {
  const bool nothing = low == 0 && high == 0;
  const Nudged range = nothing ? Nudged{0, 0, 1} : nudge(low, high, bits);
  for (std::int64_t i = 0; i < n; i += count) out[i] = nothing ? 0 : quantized(x[i], range, divides);
}

/// Where the input is outside of the range, the gradient goes to the bound that it met.
void channel_gradient(const float* dy, const float* x, std::int64_t n, std::int64_t count, float low, float high, Bits bits, float* dx, float& dlow,
                      float& dhigh) {
  dlow = dhigh = 0;
  const bool nothing = low == 0 && high == 0;
  const Nudged range = nothing ? Nudged{0, 0, 1} : nudge(low, high, bits);
  for (std::int64_t i = 0; i < n; i += count) {
    dx[i] = nothing || range.holds(x[i]) ? dy[i] : 0;
    if (nothing) continue;
    if (x[i] < range.low) dlow += dy[i];
    if (x[i] > range.high) dhigh += dy[i];
  }
}

Status quantize_channels(Call& call, const In<float>& x, const In<float>& low, const In<float>& high, Bits bits) {
  const bool divides = low.dims() == 0;
  const std::int64_t count = low.size();
  float* out = call.alloc<float>(0, x.shape());
  for (std::int64_t c = 0; c < count && x.size() > 0; ++c)
    quantize_channel(x.data() + c, x.size() - c, count, low[c], high[c], bits, divides, out + c);
  return absl::OkStatus();
}

Status channel_gradients(Call& call, const In<float>& dy, const In<float>& x, const In<float>& low, const In<float>& high, Bits bits) {
  const std::int64_t count = low.size();
  float* dx = call.alloc<float>(0, x.shape());
  float* dlow = call.alloc<float>(1, low.shape());
  float* dhigh = call.alloc<float>(2, high.shape());
  for (std::int64_t c = 0; c < count; ++c)
    channel_gradient(dy.data() + c, x.data() + c, x.size() - c, count, low[c], high[c], bits, dx + c, dlow[c], dhigh[c]);
  return absl::OkStatus();
}

using NumBits = Attr<"num_bits", std::int64_t>;
using Narrow = Attr<"narrow_range", bool>;

void fixed_kernels(Registry& ops) {
  ops.add("FakeQuantWithMinMaxArgs",
          [](Call& call, In<float> x, Attr<"min", float> low, Attr<"max", float> high, NumBits bits, Narrow narrow) -> Status {
            TRY_ASSIGN(const Nudged range, fixed_range(low, high, bits, narrow));
            return fake_quant(call, x, range);
          });
  ops.add("FakeQuantWithMinMaxArgsGradient",
          [](Call& call, In<float> dy, In<float> x, Attr<"min", float> low, Attr<"max", float> high, NumBits bits, Narrow narrow) -> Status {
            TRY_ASSIGN(const Nudged range, fixed_range(low, high, bits, narrow));
            if (dy.shape() != x.shape())
              return invalid("Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != input 1: {}", call.node().name,
                             call.node().op, dy.shape(), x.shape());
            float* out = call.alloc<float>(0, x.shape());
            for (std::int64_t i = 0; i < x.size(); ++i) out[i] = range.holds(x[i]) ? dy[i] : 0;
            return absl::OkStatus();
          });
}

}  // namespace

void add_fake_quant(Registry& ops) {
  fixed_kernels(ops);
  ops.add("FakeQuantWithMinMaxVars", [](Call& call, In<float> x, In<float> low, In<float> high, NumBits num_bits, Narrow narrow) -> Status {
    TRY_ASSIGN(const Bits bits, bits_of(num_bits, narrow));
    TRY(check_rank(low, "min", 0));
    TRY(check_rank(high, "max", 0));
    return quantize_channels(call, x, low, high, bits);
  });
  ops.add("FakeQuantWithMinMaxVarsPerChannel", [](Call& call, In<float> x, In<float> low, In<float> high, NumBits num_bits, Narrow narrow) -> Status {
    TRY_ASSIGN(const Bits bits, bits_of(num_bits, narrow));
    TRY(check_channels(x, low, high));
    return quantize_channels(call, x, low, high, bits);
  });
  ops.add("FakeQuantWithMinMaxVarsGradient",
          [](Call& call, In<float> dy, In<float> x, In<float> low, In<float> high, NumBits num_bits, Narrow narrow) -> Status {
            TRY_ASSIGN(const Bits bits, bits_of(num_bits, narrow));
            if (dy.shape() != x.shape()) return invalid("gradient and input must be the same size");
            TRY(check_rank(low, "min", 0));
            TRY(check_rank(high, "max", 0));
            return channel_gradients(call, dy, x, low, high, bits);
          });
  ops.add("FakeQuantWithMinMaxVarsPerChannelGradient",
          [](Call& call, In<float> dy, In<float> x, In<float> low, In<float> high, NumBits num_bits, Narrow narrow) -> Status {
            TRY_ASSIGN(const Bits bits, bits_of(num_bits, narrow));
            if (dy.shape() != x.shape()) return invalid("gradient and input must be the same size");
            TRY(check_channels(x, low, high));
            return channel_gradients(call, dy, x, low, high, bits);
          });
}

}  // namespace troupe
