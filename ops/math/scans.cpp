// Running sums, products and log-sum-exps along an axis.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

StatusOr<int> scan_axis(const Shape& shape, const Tensor& axis) {
  if (axis.rank() != 0) return invalid("ScanOp: axis must be a scalar, not {}", axis.shape());
  const std::int64_t rank = shape.rank(), at = index_value(axis), from_front = at < 0 ? at + rank : at;
  if (from_front < 0 || from_front >= rank) return invalid("ScanOp: Expected scan axis in the range [{}, {}), but got {}", -rank, rank, at);
  return static_cast<int>(from_front);
}

/// Joins rows of `inner` elements one after another; an exclusive scan starts with the neutral value.
template <class T, class Join>
Status scan(Call& call, const In<T>& x, const Tensor& axis, bool exclusive, bool reverse, T neutral, Join join) {
  TRY_ASSIGN(const int d, scan_axis(x.shape(), axis));
  T* out = call.alloc<T>(0, x.shape());
  if (x.size() == 0) return absl::OkStatus();
  const std::int64_t outer = x.shape().elements(0, d), n = x.dim(d), inner = x.shape().elements(d + 1, x.dims());
  const std::int64_t step = reverse ? -inner : inner;
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t first = o * n * inner + (reverse ? (n - 1) * inner : 0);
    if (exclusive) std::fill_n(out + first, inner, neutral);
    else std::copy_n(x.data() + first, inner, out + first);
    for (std::int64_t k = 1, at = first + step; k < n; ++k, at += step) {
      const T* add = x.data() + (exclusive ? at - step : at);
      for (std::int64_t i = 0; i < inner; ++i) out[at + i] = join(out[at - step + i], add[i]);
    }
  }
  return absl::OkStatus();
}

template <class T>
T log_add_exp(const T& a, const T& b) {
  using C = Computed<T>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  const C high = x < y ? y : x, low = x < y ? x : y;
  if (low == high && std::isinf(high)) return static_cast<T>(high);
  return static_cast<T>(high + std::log1p(std::exp(low - high)));
}

}  // namespace

void add_scans(Registry& ops) {
  ops.add({"Cumsum"}, numbers{}, []<class T>(Call& call, In<T> x, Any axis, Attr<"exclusive", bool> exclusive, Attr<"reverse", bool> reverse) {
    return scan(call, x, axis.tensor, exclusive, reverse, T(0), [](const T& a, const T& b) { return wrap_add(a, b); });
  });
  ops.add({"Cumprod"}, numbers{}, []<class T>(Call& call, In<T> x, Any axis, Attr<"exclusive", bool> exclusive, Attr<"reverse", bool> reverse) {
    return scan(call, x, axis.tensor, exclusive, reverse, T(1), [](const T& a, const T& b) { return wrap_mul(a, b); });
  });
  ops.add({"CumulativeLogsumexp"}, floats{},
          []<class T>(Call& call, In<T> x, Any axis, Attr<"exclusive", bool> exclusive, Attr<"reverse", bool> reverse) {
            const T nothing = -std::numeric_limits<T>::infinity();
            return scan(call, x, axis.tensor, exclusive, reverse, nothing, [](const T& a, const T& b) { return log_add_exp(a, b); });
          });
}

}  // namespace troupe
