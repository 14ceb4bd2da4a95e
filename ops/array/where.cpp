// Where elements are not zero, and where values belong in sorted rows.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

template <class T>
Status where(Call& call, In<T> x) {
  if constexpr (std::is_same_v<T, half>)
    return unimplemented(
        "No WhereOp available for float16/half type on CPU; dying in CPU WhereOp to avoid silently creating costly copies from device.");
  if (x.dims() == 0) return invalid("WhereOp : Unhandled input dimensions: 0");
  const auto rank = static_cast<std::size_t>(x.dims());
  std::int64_t count = 0;
  for (const T& value : x.values()) count += value != T(0) ? 1 : 0;
  std::int64_t* out = call.alloc<std::int64_t>(0, Shape{count, x.dims()});
  if (count == 0) return absl::OkStatus();
  // Row by row: what comes before the last coordinate stays the same along a row.
  const std::int64_t row = x.dim(x.dims() - 1);
  Dims at(rank - 1, 0);
  for (const T *from = x.data(), *end = from + x.size(); from < end; from += row) {
    for (std::int64_t i = 0; i < row; ++i) {
      if (!(from[i] != T(0))) continue;
      for (std::int64_t d : at) *out++ = d;
      *out++ = i;
    }
    for (std::size_t d = rank - 1; d-- > 0;) {
      if (++at[d] < x.dim(static_cast<int>(d))) break;
      at[d] = 0;
    }
  }
  return absl::OkStatus();
}

template <class T>
Status bound(Call& call, In<T> sorted, In<T> values, DType out_type, bool upper) {
  if (sorted.dims() != 2) return invalid("Shape must be rank 2 but is rank {} for `sorted_inputs` argument", sorted.dims());
  if (values.dims() != 2) return invalid("Shape must be rank 2 but is rank {} for `values` argument", values.dims());
  if (sorted.dim(0) != values.dim(0)) return invalid("Leading dim_size of both tensors must match.");
  const std::int64_t columns = sorted.dim(1), wanted = values.dim(1);
  by_index(out_type, [&]<class O>() {
    O* out = call.alloc<O>(0, values.shape());
    for (std::int64_t i = 0; i < values.size(); ++i) {
      const T* row = sorted.data() + i / wanted * columns;
      const T* at = upper ? std::upper_bound(row, row + columns, values[i]) : std::lower_bound(row, row + columns, values[i]);
      out[i] = static_cast<O>(at - row);
    }
  });
  return absl::OkStatus();
}

}  // namespace

void add_where(Registry& ops) {
  ops.add("Where", joined<numbers, types<bool>>{}, []<class T>(Call& call, In<T> x) { return where<T>(call, x); });
  ops.add("LowerBound", reals{},
          []<class T>(Call& call, In<T> sorted, In<T> values, Attr<"out_type", DType> type) { return bound<T>(call, sorted, values, type, false); });
  ops.add("UpperBound", reals{},
          []<class T>(Call& call, In<T> sorted, In<T> values, Attr<"out_type", DType> type) { return bound<T>(call, sorted, values, type, true); });
}

}  // namespace troupe
