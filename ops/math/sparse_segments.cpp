// Reductions of chosen rows by sorted segments: SparseSegmentSum, -Mean, -SqrtN, with a number of segments or without.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/segments.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <cmath>
#include <optional>
#include <vector>

namespace troupe {
namespace {

enum class Scale { none, mean, root };

Status check_shapes(const Tensor& x, const Tensor& indices, const Tensor& ids) {
  if (indices.rank() != 1) return invalid("indices should be a vector.");
  if (ids.rank() != 1) return invalid("segment_ids should be a vector.");
  if (indices.size() != ids.size()) return invalid("segment_ids and indices should have same size.");
  if (x.rank() < 1) return invalid("Shape must be at least rank 1");
  return absl::OkStatus();
}

StatusOr<std::int64_t> row_count(const std::vector<std::int64_t>& ids, std::optional<std::int64_t> wanted) {
  const std::int64_t used = ids.empty() ? 0 : ids.back() + 1;
  if (wanted && *wanted < used) return invalid("segment ids must be < num_segments");
  const std::int64_t rows = wanted.value_or(used);
  if (rows < 0) return invalid("segment ids must be >= 0");
  return rows;
}

template <class A>
A factor(Scale scale, std::int64_t n) {
  if constexpr (std::is_integral_v<A>) return 1;
  else if (scale == Scale::mean) return A(1) / static_cast<A>(n);
  else if (scale == Scale::root) return A(1) / std::sqrt(static_cast<A>(n));
  else return A(1);
}

template <class T>
Status reduce_rows(Call& call, const In<T>& x, const Tensor& indices, const Tensor& segment_ids, std::optional<std::int64_t> wanted, Scale scale) {
  TRY(check_shapes(x.tensor, indices, segment_ids));
  const std::vector<std::int64_t> chosen = index_values(indices), ids = index_values(segment_ids);
  TRY_ASSIGN(const std::int64_t rows, row_count(ids, wanted));
  Shape shape = x.shape();
  shape.set_dim(0, rows);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  const std::int64_t n = shape.elements(1, shape.rank());
  using A = Computed<T>;
  std::vector<A> acc(static_cast<std::size_t>(n));
  auto run = [&](std::int64_t id, std::int64_t first, std::int64_t last) -> Status {
    std::fill(acc.begin(), acc.end(), A(0));
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t row = chosen[static_cast<std::size_t>(k)];
      if (row < 0 || row >= x.dim(0)) return invalid("Bad: indices[{}] == {} out of range [0, {})", k, row, x.dim(0));
      const T* from = x.data() + row * n;
      for (std::int64_t i = 0; i < n; ++i) {
        auto& a = acc[static_cast<std::size_t>(i)];
        a = wrap_add(a, static_cast<A>(from[i]));
      }
    }
    const A scaled = factor<A>(scale, last - first);
    for (std::int64_t i = 0; i < n; ++i) out[id * n + i] = static_cast<T>(wrap_mul(acc[static_cast<std::size_t>(i)], scaled));
    return absl::OkStatus();
  };
  return for_each_run(ids, rows, run, [&](std::int64_t first, std::int64_t last) {
    if (first < last) std::fill(out + first * n, out + last * n, T(0));
  });
}

template <class... Ts>
void add_sparse(Registry& ops, const char* plain, const char* counted, Scale scale, types<Ts...> ts) {
  ops.add({plain}, ts, [scale]<class T>(Call& call, In<T> x, Any indices, Any ids) {
    return reduce_rows(call, x, indices.tensor, ids.tensor, std::nullopt, scale);
  });
  ops.add({counted}, ts, [scale]<class T>(Call& call, In<T> x, Any indices, Any ids, Any count) -> Status {
    if (count->rank() != 0) return invalid("num_segments should be a scalar, not shape {}", count->shape());
    const std::int64_t rows = index_value(count.tensor);
    if (rows < 0) return invalid("segment ids must be >= 0");
    return reduce_rows(call, x, indices.tensor, ids.tensor, rows, scale);
  });
}

}  // namespace

void add_sparse_segments(Registry& ops) {
  add_sparse(ops, "SparseSegmentSum", "SparseSegmentSumWithNumSegments", Scale::none, reals{});
  add_sparse(ops, "SparseSegmentMean", "SparseSegmentMeanWithNumSegments", Scale::mean, floats{});
  add_sparse(ops, "SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments", Scale::root, floats{});
}

}  // namespace troupe
