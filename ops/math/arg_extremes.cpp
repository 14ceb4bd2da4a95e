// ArgMax and ArgMin: where along an axis the greatest or the least element is.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/extreme.hpp>
#include <troupe/ops/math/index_values.hpp>

#include <vector>

namespace troupe {
namespace {

using ordered = joined<reals, types<bool>>;

StatusOr<int> arg_axis(const Shape& shape, const Tensor& dimension) {
  if (dimension.rank() != 0) return invalid("dim must be a scalar, but received tensor of shape: {}", dimension.shape());
  const std::int64_t rank = shape.rank(), at = index_value(dimension), axis = at < 0 ? at + rank : at;
  if (axis < 0 || axis >= rank) return invalid("Expected dimension in the range [{}, {}), but got {}", -rank, rank, at);
  if (shape.dim(static_cast<int>(axis)) == 0) return invalid("Reduction axis {} is empty in shape {}", at, shape);
  return static_cast<int>(axis);
}

Status set_places(Call& call, const Shape& shape, const std::vector<std::int64_t>& places, DType type) {
  visit_dtype(types<std::int16_t, std::uint16_t, std::int32_t, std::int64_t>{}, type, [&]<class I>() {
    I* out = call.alloc<I>(0, shape);
    for (std::size_t i = 0; i < places.size(); ++i) out[i] = static_cast<I>(places[i]);
  });
  return absl::OkStatus();
}

/// The first of equals wins; NaN never does.
template <bool greatest, class T>
std::int64_t place_of_extreme(const T* x, std::int64_t n, std::int64_t step) {
  T best = greatest ? lowest_of<T>() : highest_of<T>();
  std::int64_t place = 0;
  for (std::int64_t k = 0; k < n; ++k, x += step) {
    if (!(greatest ? best < *x : *x < best)) continue;
    best = *x;
    place = k;
  }
  return place;
}

template <bool greatest, class T>
Status arg_extreme(Call& call, const In<T>& x, const Tensor& dimension, DType type) {
  TRY_ASSIGN(const int axis, arg_axis(x.shape(), dimension));
  Shape shape = x.shape();
  shape.remove_dim(axis);
  std::vector<std::int64_t> places(static_cast<std::size_t>(shape.elements()));
  const std::int64_t n = x.dim(axis), inner = x.shape().elements(axis + 1, x.dims());
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    places[static_cast<std::size_t>(i)] = place_of_extreme<greatest>(x.data() + i / inner * n * inner + i % inner, n, inner);
  return set_places(call, shape, places, type);
}

}  // namespace

void add_arg_extremes(Registry& ops) {
  ops.add({"ArgMax"}, ordered{}, []<class T>(Call& call, In<T> x, Any dimension, Attr<"output_type", DType> type) {
    return arg_extreme<true>(call, x, dimension.tensor, type);
  });
  ops.add({"ArgMin"}, ordered{}, []<class T>(Call& call, In<T> x, Any dimension, Attr<"output_type", DType> type) {
    return arg_extreme<false>(call, x, dimension.tensor, type);
  });
}

}  // namespace troupe
