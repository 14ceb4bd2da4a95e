// Reductions of segments in any order: UnsortedSegmentSum, -Prod, -Min, -Max.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>
#include <troupe/ops/math/reducers.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace troupe {
namespace {

/// "[1,0]": the place of a flat index in a shape.
std::string place_of(const Shape& shape, std::int64_t flat) {
  std::string text;
  for (int d = shape.rank(); d-- > 0; flat /= shape.dim(d)) text = fmt::format("{}{}{}", flat % shape.dim(d), text.empty() ? "" : ",", text);
  return shape.rank() == 0 ? "" : "[" + text + "]";
}

StatusOr<Shape> segmented_shape(const Shape& data, const Shape& ids, const Tensor& count) {
  if (count.rank() != 0) return invalid("num_segments should be a scalar, not shape {}", count.shape());
  bool starts = data.rank() >= ids.rank();
  for (int d = 0; starts && d < ids.rank(); ++d) starts = data.dim(d) == ids.dim(d);
  if (!starts) return invalid("data.shape = {} does not start with segment_ids.shape = {}", data, ids);
  const std::int64_t rows = index_value(count);
  if (rows < 0) return invalid("Input num_segments == {} must not be negative.", rows);
  Shape shape{rows};
  for (int d = ids.rank(); d < data.rank(); ++d) shape.add_dim(data.dim(d));
  return Shape::checked(shape.dims());
}

/// What is joined of rows of n elements. A segment's first row is joined with the start itself, not with memory filled with it before: a
/// large output is written once, where it is read next.
template <class R, class T>
struct Segments {
  T* out;
  std::int64_t n;
  T start;
  std::vector<char> begun;

  Segments(T* to, std::int64_t rows, std::int64_t row_size, T first) : out(to), n(row_size), start(first), begun(static_cast<std::size_t>(rows)) {}

  void add(std::int64_t segment, const T* row) {
    T* to = out + segment * n;
    if (std::exchange(begun[static_cast<std::size_t>(segment)], 1)) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) to[i] = R::join(to[i], row[i]);
    } else {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) to[i] = R::join(start, row[i]);
    }
  }
  void fill_rest() {
    for (std::size_t r = 0; r < begun.size(); ++r)
      if (!begun[r]) std::fill_n(out + static_cast<std::int64_t>(r) * n, n, start);
  }
};

template <class R, class T>
Status reduce_unsorted(Call& call, const In<T>& x, const Tensor& segment_ids, const Tensor& count, T start) {
  TRY_ASSIGN(const Shape shape, segmented_shape(x.shape(), segment_ids.shape(), count));
  const std::int64_t rows = shape.dim(0), n = shape.elements(1, shape.rank());
  Segments<R, T> segments(call.alloc<T>(0, shape), rows, n, start);
  const std::vector<std::int64_t> ids = index_values(segment_ids);
  const T* row = x.data();
  for (std::size_t k = 0; k < ids.size(); ++k, row += n) {
    if (ids[k] < 0) continue;
    if (ids[k] >= rows)
      return invalid("segment_ids{} = {} is out of range [0, {})", place_of(segment_ids.shape(), static_cast<std::int64_t>(k)), ids[k], rows);
    segments.add(ids[k], row);
  }
  segments.fill_rest();
  return absl::OkStatus();
}

}  // namespace

void add_unsorted_segments(Registry& ops) {
  ops.add({"UnsortedSegmentSum"}, numbers{},
          []<class T>(Call& call, In<T> x, Any ids, Any count) { return reduce_unsorted<SumReducer>(call, x, ids.tensor, count.tensor, T(0)); });
  ops.add({"UnsortedSegmentProd"}, numbers{},
          []<class T>(Call& call, In<T> x, Any ids, Any count) { return reduce_unsorted<ProductReducer>(call, x, ids.tensor, count.tensor, T(1)); });
  ops.add({"UnsortedSegmentMin"}, reals{}, []<class T>(Call& call, In<T> x, Any ids, Any count) {
    return reduce_unsorted<MinReducer>(call, x, ids.tensor, count.tensor, std::numeric_limits<T>::max());
  });
  ops.add({"UnsortedSegmentMax"}, reals{}, []<class T>(Call& call, In<T> x, Any ids, Any count) {
    return reduce_unsorted<MaxReducer>(call, x, ids.tensor, count.tensor, std::numeric_limits<T>::lowest());
  });
}

}  // namespace troupe
