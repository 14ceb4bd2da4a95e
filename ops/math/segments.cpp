// Reductions of sorted segments of rows: SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax.
#include <troupe/ops/math/segments.hpp>

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/reducers.hpp>

#include <vector>

namespace troupe {

StatusOr<std::int64_t> segment_count(std::span<const std::int64_t> ids) {
  if (ids.empty()) return 0;
  if (ids.back() < 0) return invalid("segment ids must be >= 0");
  return ids.back() + 1;
}

Status check_run(std::int64_t id, std::int64_t next, bool last, std::int64_t rows) {
  if (!last && id >= next) return invalid("segment ids are not increasing");
  if (id < 0 || id >= rows) return invalid("Segment id {} out of range [0, {}), possibly because 'segment_ids' input is not sorted.", id, rows);
  return absl::OkStatus();
}

namespace {

template <class R, class T, class Finish>
Status reduce_segments(Call& call, const In<T>& x, const Tensor& segment_ids, T empty, Finish finish) {
  if (x.dims() < 1) return invalid("input must be at least rank 1");
  if (segment_ids.rank() != 1) return invalid("segment_ids should be a vector.");
  if (segment_ids.size() != x.dim(0)) return invalid("segment_ids should be the same size as dimension 0 of input.");
  const std::vector<std::int64_t> ids = index_values(segment_ids);
  TRY_ASSIGN(const std::int64_t rows, segment_count(ids));
  Shape shape = x.shape();
  shape.set_dim(0, rows);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  const std::int64_t n = shape.elements(1, shape.rank());
  using A = Computed<T>;
  std::vector<A> acc(static_cast<std::size_t>(n));
  auto run = [&](std::int64_t id, std::int64_t first, std::int64_t last) {
    std::fill(acc.begin(), acc.end(), R::template start<A>());
    A* sum = acc.data();
    for (std::int64_t row = first; row < last; ++row) {
      const T* from = x.data() + row * n;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) sum[i] = R::join(sum[i], static_cast<A>(from[i]));
    }
    T* to = out + id * n;
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(finish(sum[i], last - first));
    return absl::OkStatus();
  };
  return for_each_run(ids, rows, run, [&](std::int64_t first, std::int64_t last) {
    if (first < last) std::fill(out + first * n, out + last * n, empty);
  });
}

constexpr auto as_is = [](const auto& x, std::int64_t) { return x; };

}  // namespace

void add_segments(Registry& ops) {
  ops.add({"SegmentSum"}, numbers{},
          []<class T>(Call& call, In<T> x, Any ids) { return reduce_segments<SumReducer>(call, x, ids.tensor, T(0), as_is); });
  ops.add({"SegmentProd"}, numbers{},
          []<class T>(Call& call, In<T> x, Any ids) { return reduce_segments<ProductReducer>(call, x, ids.tensor, T(1), as_is); });
  ops.add({"SegmentMin"}, reals{},
          []<class T>(Call& call, In<T> x, Any ids) { return reduce_segments<MinReducer>(call, x, ids.tensor, T(0), as_is); });
  ops.add({"SegmentMax"}, reals{},
          []<class T>(Call& call, In<T> x, Any ids) { return reduce_segments<MaxReducer>(call, x, ids.tensor, T(0), as_is); });
  ops.add({"SegmentMean"}, numbers{}, []<class T>(Call& call, In<T> x, Any ids) {
    return reduce_segments<SumReducer>(call, x, ids.tensor, T(0), []<class A>(const A& sum, std::int64_t n) {
      if constexpr (std::is_integral_v<A>) return static_cast<A>(static_cast<std::int64_t>(sum) / n);
      else if constexpr (is_complex<A>) return sum / static_cast<typename A::value_type>(n);
      else return sum / static_cast<A>(n);
    });
  });
}

}  // namespace troupe
