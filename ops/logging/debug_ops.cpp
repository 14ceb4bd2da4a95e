// Ops that the first debugger puts on the edges of a graph: they hand on what they watch, or count and summarise it.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/debug_publishing.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

using Counted = types<double, float, bfloat16, half, std::int32_t, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t,
                      std::int64_t, std::uint64_t>;
using Summarised =
    types<double, float, std::int32_t, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t, std::int64_t, std::uint64_t, bool>;

/// What is watched, "node" or "node:slot", and who is told.
struct Watched {
  static StatusOr<Watched> make(Binding& binding) {
    TRY_ASSIGN(const auto name, binding.attr<std::string>("tensor_name"));
    const auto colon = name.find(':');
    if (name.empty() || (colon != std::string::npos && name.find(':', colon + 1) != std::string::npos))
      return invalid("Failed to parse tensor name: \"{}\"", name);
    std::int32_t number = 0;
    if (colon != std::string::npos) {
      const std::string slot = name.substr(colon + 1);
      const auto [end, error] = std::from_chars(slot.data(), slot.data() + slot.size(), number);
      if (error != std::errc() || end != slot.data() + slot.size()) return invalid("Invalid string value for output_slot: \"{}\"", slot);
    }
    TRY_ASSIGN(const auto urls, binding.attr<std::vector<std::string>>("debug_urls"));
    TRY_ASSIGN(const auto device, binding.attr<std::string>("device_name"));
    return Watched{{name.substr(0, colon), number, binding.node().op(), device}, urls, healthy_is_mute(binding)};
  }

  static bool healthy_is_mute(const Binding& binding) {
    const auto found = binding.node().attr().find("mute_if_healthy");
    return found != binding.node().attr().end() && found->second.b();
  }

  Status publish(const Tensor& tensor) const { return publish_tensor(watched, tensor, urls); }

  WatchedTensor watched;
  std::vector<std::string> urls;
  bool mute_if_healthy;
};

struct Bounds {
  double low, high;
};

/// Counts (NaN, below, negative, zero, positive, above), extremes, mean, variance, type and sizes.
template <class T>
std::vector<double> summary(const In<T>& x, Bounds bounds) {
  const double infinity = std::numeric_limits<double>::infinity();
  double nan = 0, below = 0, negative = 0, zero = 0, positive = 0, above = 0, least = infinity, most = -infinity, sum = 0, count = 0;
  for (const T& element : x.values()) {
    const auto v = static_cast<double>(element);
    if (std::isnan(v)) {
      ++nan;
      continue;
    }
    if (std::isinf(v)) {
      ++(v < 0 ? below : above);
      continue;
    }
    if (!std::isinf(bounds.low) && v <= bounds.low) ++below;
    else if (!std::isinf(bounds.high) && v >= bounds.high) ++above;
    else ++(v < 0 ? negative : v == 0 ? zero : positive);
    least = std::min(least, v);
    most = std::max(most, v);
    sum += v;
    ++count;
  }
  const double none = std::numeric_limits<double>::quiet_NaN(), mean = count > 0 ? sum / count : none;
  double squares = 0;
  for (const T& element : x.values())
    if (const auto v = static_cast<double>(element); std::isfinite(v)) squares += (v - mean) * (v - mean);
  std::vector<double> out{1,    static_cast<double>(x.size()),     nan, below, negative, zero, positive, above, least, most,
                          mean, count > 0 ? squares / count : none};
  out.push_back(static_cast<double>(x.tensor.dtype()));
  out.push_back(x.dims());
  for (int d = 0; d < x.dims(); ++d) out.push_back(static_cast<double>(x.dim(d)));
  return out;
}

}  // namespace

void add_debug_ops(Registry& ops) {
  ops.add(
      {"DebugIdentity", "DebugIdentityV3"},
      [](Call& call, Any x, State<Watched> watched) -> Status {
        call.set(0, x.tensor);
        return watched->publish(x.tensor);
      },
      Place::io);
  ops.io("DebugNanCount", Counted{}, []<class T>(Call& call, In<T> x, State<Watched> watched) -> Status {
    std::int64_t count = 0;
    for (const T& element : x.values()) count += std::isnan(static_cast<double>(element)) ? 1 : 0;
    *call.alloc<std::int64_t>(0, Shape{1}) = count;
    return watched->publish(call.output_value(0).tensor);
  });
  ops.io("DebugNumericSummary", Summarised{},
         []<class T>(Call& call, In<T> x, State<Watched> watched, Attr<"lower_bound", float> low, Attr<"upper_bound", float> high) -> Status {
           const auto found = summary(x, Bounds{*low, *high});
           std::copy(found.begin(), found.end(), call.alloc<double>(0, Shape{std::ssize(found)}));
           const bool healthy = found[2] == 0 && found[3] == 0 && found[7] == 0;
           return watched->mute_if_healthy && healthy ? absl::OkStatus() : watched->publish(call.output_value(0).tensor);
         });
}

}  // namespace troupe
