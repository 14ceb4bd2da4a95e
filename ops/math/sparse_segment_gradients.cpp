// Gradients of SparseSegmentSum, -Mean and -SqrtN: dense, or as the rows that are not zero.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>
#include <troupe/ops/math/loops.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace troupe {
namespace {

enum class Scale { none, mean, root };

/// What both forms read: rows of the gradient, where they go and how they are weighed.
struct Routes {
  std::vector<std::int64_t> to, from;  // row of the output, row of the gradient
  std::vector<double> weight;          // by row of the gradient
};

StatusOr<Routes> routes_of(const Tensor& gradient, const Tensor& indices, const Tensor& ids, std::int64_t rows, Scale scale) {
  if (indices.rank() != 1) return invalid("indices should be a vector.");
  if (ids.rank() != 1) return invalid("segment_ids should be a vector.");
  if (indices.size() != ids.size()) return invalid("segment_ids and indices should have same size.");
  if (gradient.rank() < 1) return invalid("Shape must be at least rank 1");
  if (rows < 0) return invalid("Expected a non-negative size, got {}", rows);
  Routes routes{index_values(indices), index_values(ids), {}};
  const std::int64_t segments = gradient.dim(0);
  if (!routes.from.empty() && routes.from.back() >= segments) return invalid("Invalid number of segments");
  routes.weight.assign(static_cast<std::size_t>(segments), 0);
  for (const std::int64_t id : routes.from) {
    if (id < 0 || id >= segments) return invalid("Segment id {} out of range [0, {}).", id, segments);
    routes.weight[static_cast<std::size_t>(id)] += 1;
  }
  for (double& w : routes.weight) w = scale == Scale::none ? 1 : scale == Scale::mean ? 1 / std::max(w, 1.0) : 1 / std::sqrt(std::max(w, 1.0));
  for (const std::int64_t row : routes.to)
    if (row < 0 || row >= rows) return invalid("Index {} out of range [0, {}).", row, rows);
  return routes;
}

/// Adds the gradient's rows to those of output 0.
template <class T>
Status scatter(Call& call, const In<T>& gradient, const Routes& routes, std::int64_t rows) {
  Shape shape = gradient.shape();
  shape.set_dim(0, rows);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  using A = Computed<T>;
  const std::int64_t n = shape.elements(1, shape.rank());
  std::vector<A> wide(std::is_same_v<A, T> ? 0 : static_cast<std::size_t>(shape.elements()));
  A* acc = nullptr;
  if constexpr (std::is_same_v<A, T>) acc = out;
  else acc = wide.data();
  std::fill_n(acc, shape.elements(), A(0));
  for (std::size_t k = 0; k < routes.to.size(); ++k) {
    const auto weight = static_cast<A>(routes.weight[static_cast<std::size_t>(routes.from[k])]);
    const T* from = gradient.data() + routes.from[k] * n;
    for (std::int64_t i = 0; i < n; ++i) acc[routes.to[k] * n + i] += static_cast<A>(from[i]) * weight;
  }
  if constexpr (!std::is_same_v<A, T>) std::transform(wide.begin(), wide.end(), out, [](A a) { return static_cast<T>(a); });
  return absl::OkStatus();
}

/// Gives output 1 the distinct rows in order, and numbers the routes by them.
std::int64_t compact(Call& call, Routes& routes, DType type) {
  std::vector<std::int64_t> distinct = routes.to;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::int64_t& row : routes.to) row = std::lower_bound(distinct.begin(), distinct.end(), row) - distinct.begin();
  const auto count = static_cast<std::int64_t>(distinct.size());
  visit_dtype(indices{}, type, [&]<class I>() {
    std::transform(distinct.begin(), distinct.end(), call.alloc<I>(1, Shape{count}), [](std::int64_t i) { return static_cast<I>(i); });
  });
  return count;
}

void add_gradient(Registry& ops, const char* dense, const char* sparse, Scale scale) {
  ops.add({dense}, floats{}, [scale]<class T>(Call& call, In<T> gradient, Any indices, Any ids, In<std::int32_t> rows) -> Status {
    if (rows.dims() != 0) return invalid("output_dim0 should be a scalar.");
    TRY_ASSIGN(const Routes routes, routes_of(gradient.tensor, indices.tensor, ids.tensor, rows[0], scale));
    return scatter(call, gradient, routes, rows[0]);
  });
  ops.add({sparse}, floats{}, [scale]<class T>(Call& call, In<T> gradient, Any indices, Any ids, In<std::int32_t> rows) -> Status {
    if (rows.dims() != 0) return invalid("dense_output_dim0 should be a scalar.");
    TRY_ASSIGN(Routes routes, routes_of(gradient.tensor, indices.tensor, ids.tensor, rows[0], scale));
    const std::int64_t count = compact(call, routes, indices->dtype());
    return scatter(call, gradient, routes, count);
  });
}

}  // namespace

void add_sparse_segment_gradients(Registry& ops) {
  add_gradient(ops, "SparseSegmentSumGrad", "SparseSegmentSumGradV2", Scale::none);
  add_gradient(ops, "SparseSegmentMeanGrad", "SparseSegmentMeanGradV2", Scale::mean);
  add_gradient(ops, "SparseSegmentSqrtNGrad", "SparseSegmentSqrtNGradV2", Scale::root);
}

}  // namespace troupe
