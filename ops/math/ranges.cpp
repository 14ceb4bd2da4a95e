// Sequences of numbers: Range and LinSpace.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

/// One element of rank 0, or of rank 1 as old graphs have it.
Status check_single(const Tensor& t, const char* name) {
  if (t.rank() == 0 || (t.rank() == 1 && t.size() == 1)) return absl::OkStatus();
  return invalid("{} must be a scalar, not shape {}", name, t.shape());
}

template <class T>
StatusOr<std::int64_t> range_size(T start, T limit, T delta) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (delta == 0) return invalid("Requires delta != 0: {}", delta);
  if (delta > 0 && !(start <= limit)) return invalid("Requires start <= limit when delta > 0: {}/{}", start, limit);
  if (delta < 0 && !(start >= limit)) return invalid("Requires start >= limit when delta < 0: {}/{}", start, limit);
  if constexpr (std::is_integral_v<T>) {
    auto magnitude = [](T high, T low) { return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low); };
    const std::uint64_t distance = delta > 0 ? magnitude(limit, start) : magnitude(start, limit);
    const std::uint64_t step = delta > 0 ? static_cast<std::uint64_t>(delta) : magnitude(0, delta);
    const std::uint64_t size = distance / step + (distance % step != 0);
    if (size <= static_cast<std::uint64_t>(most)) return static_cast<std::int64_t>(size);
  } else {
    const T size = std::ceil(std::abs((limit - start) / delta));
    if (size < static_cast<T>(most)) return static_cast<std::int64_t>(size);
  }
  return invalid("Requires ((limit - start) / delta) <= {}", most);
}

template <class T>
Status range(Call& call, const In<T>& start, const In<T>& limit, const In<T>& delta) {
  TRY(check_single(start.tensor, "start"));
  TRY(check_single(limit.tensor, "limit"));
  TRY(check_single(delta.tensor, "delta"));
  TRY_ASSIGN(const std::int64_t size, range_size(start[0], limit[0], delta[0]));
  T* out = call.alloc<T>(0, Shape{size});
  for (std::int64_t i = 0; i < size; ++i) out[i] = start[0] + static_cast<T>(i) * delta[0];
  return absl::OkStatus();
}

template <class T>
Status linspace(Call& call, const In<T>& start, const In<T>& stop, const Tensor& num) {
  if (start.dims() != 0) return invalid("start must be a scalar, not shape {}", start.shape());
  if (stop.dims() != 0) return invalid("stop must be a scalar, not shape {}", stop.shape());
  if (num.rank() != 0) return invalid("num must be a scalar, not shape {}", num.shape());
  const std::int64_t n = index_value(num);
  if (n <= 0) return invalid("Requires num > 0: {}", n);
  T* out = call.alloc<T>(0, Shape{n});
  out[0] = start[0];
  if (n == 1) return absl::OkStatus();
  const T step = (stop[0] - start[0]) / static_cast<T>(n - 1);
  for (std::int64_t i = 1; i + 1 < n; ++i) out[i] = start[0] + step * static_cast<T>(i);
  out[n - 1] = stop[0];
  return absl::OkStatus();
}

}  // namespace

void add_ranges(Registry& ops) {
  ops.add({"Range"}, On<"Tidx", types<std::int32_t, std::int64_t, float, double>>{},
          []<class T>(Call& call, In<T> start, In<T> limit, In<T> delta) { return range(call, start, limit, delta); });
  ops.add({"LinSpace"}, full_floats{}, []<class T>(Call& call, In<T> start, In<T> stop, Any num) { return linspace(call, start, stop, num.tensor); });
}

}  // namespace troupe
