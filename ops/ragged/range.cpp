// RaggedRange: a range of numbers for each row.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

/// How many numbers there are from start to limit; refuses what cannot be counted.
template <class T>
StatusOr<std::int64_t> range_size(const T& start, const T& limit, const T& delta) {
  if (delta == T(0)) return invalid("Requires delta != 0");
  if ((delta > T(0) && limit < start) || (delta < T(0) && limit > start)) return 0;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U span = limit > start ? static_cast<U>(limit) - static_cast<U>(start) : static_cast<U>(start) - static_cast<U>(limit);
    const U step = delta < 0 ? U(0) - static_cast<U>(delta) : static_cast<U>(delta);
    const U size = span / step + (span % step != 0 ? 1 : 0);
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return invalid("Requires ((limit - start) / delta) <= {}", std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(size);
  } else {
    const T size = std::ceil(std::abs((limit - start) / delta));
    if (!(size < static_cast<T>(std::numeric_limits<std::int64_t>::max())))
      return invalid("Requires ((limit - start) / delta) <= {}", std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(size);
  }
}

StatusOr<std::int64_t> row_count(const Tensor& starts, const Tensor& limits, const Tensor& deltas) {
  std::int64_t rows = -1;
  for (const auto& [t, name] : {std::pair{&starts, "starts"}, {&limits, "limits"}, {&deltas, "deltas"}})
    if (t->rank() > 1) return invalid("{} must be a scalar or vector", name);
  for (const Tensor* t : {&starts, &limits, &deltas}) {
    if (t->rank() == 0) continue;
    if (rows >= 0 && t->size() != rows) return invalid("starts, limits, and deltas must have the same shape");
    rows = t->size();
  }
  return rows < 0 ? 1 : rows;
}

template <class T, class S>
Status ragged_range(Call& call, const In<T>& starts, const In<T>& limits, const In<T>& deltas) {
  TRY_ASSIGN(const std::int64_t rows, row_count(starts.tensor, limits.tensor, deltas.tensor));
  const auto at = [](const In<T>& x, std::int64_t row) { return x.dims() == 0 ? x[0] : x[row]; };
  S* splits = call.alloc<S>(0, Shape{rows + 1});
  splits[0] = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    TRY_ASSIGN(const std::int64_t size, range_size(at(starts, row), at(limits, row), at(deltas, row)));
    // A size that its type does not hold is cut, as in the reference; only the sum is looked at.
    if (__builtin_add_overflow(splits[row], static_cast<S>(size), &splits[row + 1]) || splits[row + 1] < splits[row])
      return invalid("The total range size overflowed. Consider using int64 instead of int32 for row_splits_dtype.");
  }
  T* out = call.alloc<T>(1, Shape{splits[rows]});
  for (std::int64_t row = 0; row < rows; ++row) {
    T value = at(starts, row);
    for (S i = splits[row]; i < splits[row + 1]; ++i) {
      *out++ = value;
      value = wrap_add(value, at(deltas, row));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void add_ragged_range(Registry& ops) {
  ops.add("RaggedRange", types<float, double, std::int32_t, std::int64_t>{},
          []<class T>(Call& call, In<T> starts, In<T> limits, In<T> deltas, Attr<"Tsplits", DType> splits) {
            return *splits == DType::i32 ? ragged_range<T, std::int32_t>(call, starts, limits, deltas)
                                         : ragged_range<T, std::int64_t>(call, starts, limits, deltas);
          });
}

}  // namespace troupe
