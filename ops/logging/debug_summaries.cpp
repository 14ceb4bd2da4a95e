// What a debugger wants to know of a tensor: how many of its numbers are no numbers, infinite, negative, zero.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

using Debugged = types<bool, std::int32_t, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t, std::int64_t, std::uint64_t, double,
                       float, bfloat16, half>;

struct Counts {
  double nan = 0, negative_infinite = 0, positive_infinite = 0, negative = 0, zero = 0, positive = 0;
};

Counts count(const Tensor& t) {
  Counts counts;
  visit_dtype(Debugged{}, t.dtype(), [&]<class T>() {
    for (const T& element : t.values<T>()) {
      const auto x = static_cast<double>(element);
      if (std::isnan(x)) ++counts.nan;
      else if (std::isinf(x)) ++(x < 0 ? counts.negative_infinite : counts.positive_infinite);
      else ++(x < 0 ? counts.negative : x == 0 ? counts.zero : counts.positive);
    }
  });
  return counts;
}

/// As the enumeration of modes in TensorFlow's debugger numbers them.
enum Mode { curt_health = 2, concise_health = 3, full_health = 4, shape = 5, reduce_inf_nan_three_slots = 8 };

std::vector<double> shape_summary(const Tensor& t, double id) {
  std::vector<double> out{id, static_cast<double>(t.dtype()), static_cast<double>(t.rank()), static_cast<double>(t.size())};
  // Six sizes: the last ones of a longer shape, zeros behind those of a shorter one.
  for (int d = std::max(0, t.rank() - 6); d < t.rank(); ++d) out.push_back(static_cast<double>(t.dim(d)));
  out.resize(10, 0);
  return out;
}

StatusOr<std::vector<double>> summarize(const Tensor& t, std::int64_t mode, double id) {
  if (mode == shape) return shape_summary(t, id);
  if (mode != curt_health && mode != concise_health && mode != full_health && mode != reduce_inf_nan_three_slots)
    return unimplemented("Unimplemented tensor debug mode: {}", mode);
  const Counts n = count(t);
  const auto size = static_cast<double>(t.size());
  if (mode == curt_health) return std::vector<double>{id, n.nan + n.negative_infinite + n.positive_infinite > 0 ? 1.0 : 0.0};
  if (mode == concise_health) return std::vector<double>{id, size, n.negative_infinite, n.positive_infinite, n.nan};
  if (mode == full_health)
    return std::vector<double>{id,
                               -1,
                               static_cast<double>(t.dtype()),
                               static_cast<double>(t.rank()),
                               size,
                               n.negative_infinite,
                               n.positive_infinite,
                               n.nan,
                               n.negative,
                               n.zero,
                               n.positive};
  const double infinity = std::numeric_limits<double>::infinity();
  return std::vector<double>{n.negative_infinite > 0 ? -infinity : 0, n.positive_infinite > 0 ? infinity : 0,
                             n.nan > 0 ? std::numeric_limits<double>::quiet_NaN() : 0};
}

}  // namespace

void add_debug_summaries(Registry& ops) {
  ops.add("DebugNumericSummaryV2", On<"T", Debugged>{}, On<"output_dtype", types<float, double>>{},
          []<class T, class O>(Call& call, In<T> x, Attr<"tensor_debug_mode", std::int64_t> mode, Attr<"tensor_id", std::int64_t> id,
                               Gives<O>) -> Status {
            constexpr int bits = std::numeric_limits<O>::digits;
            if (*id > (std::int64_t{1} << bits))
              return invalid("DebugNumericSummaryV2Op requires tensor_id to be less than or equal to (2^{}). Given tensor_id:{}", bits, *id);
            TRY_ASSIGN(const auto summary, summarize(x.tensor, *mode, static_cast<double>(*id)));
            O* out = call.alloc<O>(0, Shape{std::ssize(summary)});
            for (std::size_t i = 0; i < summary.size(); ++i) out[i] = static_cast<O>(summary[i]);
            return absl::OkStatus();
          });
  ops.add("DebugIdentityV2", [](Call& call, Any x, Attr<"debug_urls", std::vector<std::string>> urls) -> Status {
    if (!urls->empty()) return unimplemented("Tensors are not published to debug URLs such as {}", (*urls)[0]);
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
}

}  // namespace troupe
