// Wide quantised sums brought into narrower ranges and types.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/quantized_range.hpp>
#include <troupe/ops/nn/options.hpp>

#include <vector>

namespace troupe {
namespace {

template <class Q>
void give_range(Call& call, int first, Q low, Q high) {
  call.set_scalar<float>(first, low);
  call.set_scalar<float>(first + 1, high);
}

template <class To>
void requantize(Call& call, const In<qint32>& x, QuantizedRange from, QuantizedRange to) {
  const Meaning<qint32> meaning(from);
  const Storing<To> storing(to);
  To* out = call.alloc<To>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) out[i].value = storing(meaning(x[i].value));
  give_range(call, 1, to.low, to.high);
}

/// The range that is used, with zero in it.
QuantizedRange used_range(const In<qint32>& x, QuantizedRange range) {
  std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::lowest();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    low = std::min(low, x[i].value);
    high = std::max(high, x[i].value);
  }
  return {std::min(0.0f, meant<qint32>(low, range)), meant<qint32>(high, range)};
}

Status check_one(const Tensor& t, const char* name) { return t.size() == 1 ? absl::OkStatus() : invalid("{} must be a scalar", name); }
Status check_range(const Any& low, const Any& high) {
  if (low->rank() != 0) return invalid("`input_min` must be rank 0 but is rank {}", low->rank());
  if (high->rank() != 0) return invalid("`input_max` must be rank 0 but is rank {}", high->rank());
  return absl::OkStatus();
}
QuantizedRange range_in(const Any& low, const Any& high) { return {low->item<float>(), high->item<float>()}; }

struct Channels {
  std::int64_t count;
  const float *lows, *highs;
  float widest(std::int64_t c) const { return std::max(std::abs(lows[c]), std::abs(highs[c])); }
};

StatusOr<Channels> channels_of(const In<qint32>& x, const In<float>& low, const In<float>& high) {
  const std::int64_t depth = x.dim(3);
  if (low.dims() != 1 || low.dim(0) != depth) return invalid("input_min has incorrect size, expected {} was {}", depth, low.size());
  if (high.dims() != 1 || high.dim(0) != depth) return invalid("input_max has incorrect size, expected {} was {}", depth, high.size());
  return Channels{depth, low.data(), high.data()};
}

}  // namespace

void add_requantize(Registry& ops) {
  ops.add("Requantize", On<"out_type", types<quint8, qint8>>{},
          []<class To>(Call& call, In<qint32> x, Any low, Any high, Any new_low, Any new_high, Gives<To>) -> Status {
            TRY(check_range(low, high));
            if (new_low->rank() != 0) return invalid("`requested_output_min` must be rank 0 but is rank {}", new_low->rank());
            if (new_high->rank() != 0) return invalid("`requested_output_max` must be rank 0 but is rank {}", new_high->rank());
            const QuantizedRange to = range_in(new_low, new_high);
            if (to.low > 0.0f) return invalid("requested_output_min must be <= 0, but got {:g}", to.low);
            if (to.high < to.low) return invalid("requested_output_max must be >= requested_output_min, but got {:g} and {:g}", to.high, to.low);
            requantize<To>(call, x, range_in(low, high), to);
            return absl::OkStatus();
          });
  ops.add("QuantizeDownAndShrinkRange", [](Call& call, In<qint32> x, Any low, Any high) -> Status {
    TRY(check_range(low, high));
    const QuantizedRange from = range_in(low, high);
    requantize<quint8>(call, x, from, used_range(x, from));
    return absl::OkStatus();
  });
  ops.add("RequantizationRange", [](Call& call, In<qint32> x, Any low, Any high) -> Status {
    if (low->size() == 0) return invalid("Input min must not be empty.");
    if (high->size() == 0) return invalid("Input max must not be empty.");
    const QuantizedRange used = used_range(x, range_in(low, high));
    give_range(call, 0, used.low, used.high);
    return absl::OkStatus();
  });
  ops.add("RequantizePerChannel", On<"out_type", types<quint8, qint8>>{},
          []<class To>(Call& call, In<qint32> x, In<float> low, In<float> high, Any new_low, Any new_high, Gives<To>) -> Status {
            if (x.dims() != 4) return invalid("Current RequantizePerChannel operatorsupports 4D tensors only.");
            TRY_ASSIGN(const Channels channels, channels_of(x, low, high));
            TRY(check_one(new_low.tensor, "requested_output_min"));
            TRY(check_one(new_high.tensor, "requested_output_max"));
            const QuantizedRange to = range_in(new_low, new_high);
            constexpr bool is_signed = std::is_signed_v<StoredAs<To>>;
            const float width = std::max(std::abs(to.low), std::abs(to.high));
            To* out = call.alloc<To>(0, x.shape());
            for (std::int64_t i = 0; i < x.size(); ++i) {
              // Numbers of 31 bits on one side of zero become 7 or 8 bits of the new range.
              const float scale = channels.widest(i % channels.count) / width / static_cast<float>(is_signed ? 1 << 24 : 1 << 23);
              const float at = std::nearbyint(static_cast<float>(x[i].value) * scale);
              out[i].value = static_cast<StoredAs<To>>(std::clamp(at, static_cast<float>(lowest_stored<To>), static_cast<float>(highest_stored<To>)));
            }
            give_range(call, 1, to.low, to.high);
            return absl::OkStatus();
          });
  ops.add("RequantizationRangePerChannel", [](Call& call, In<qint32> x, In<float> low, In<float> high, Attr<"clip_value_max", float> clip) -> Status {
    if (x.dims() != 4) return invalid("input must be in NHWC format");
    TRY_ASSIGN(const Channels channels, channels_of(x, low, high));
    std::vector<float> most(static_cast<std::size_t>(channels.count), 0);
    bool negative = false;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      auto& largest = most[static_cast<std::size_t>(i % channels.count)];
      largest = std::max(largest, std::abs(static_cast<float>(x[i].value)));
      negative |= x[i].value < 0;
    }
    float result = std::numeric_limits<float>::lowest();
    for (std::int64_t c = 0; c < channels.count; ++c)
      result = std::max(result, most[static_cast<std::size_t>(c)] * channels.widest(c) / static_cast<float>(1u << 31));
    if (result > *clip) result = *clip;
    give_range(call, 0, negative ? -result : 0.0f, result);
    return absl::OkStatus();
  });
}

}  // namespace troupe
