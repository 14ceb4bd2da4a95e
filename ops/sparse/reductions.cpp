// Sums and maxima along dimensions of a sparse tensor, as dense and as sparse tensors, and softmax.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/math/extreme.hpp>
#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

/// Which dimensions stay, and the order in which rows that end up together are neighbours.
struct Reduction {
  std::vector<std::int64_t> kept, order;
  Shape shape;  // of the result
};

StatusOr<Reduction> plan_reduction(const SparseIn& s, const In<std::int32_t>& axes, bool keep) {
  if (s.shape.rank() != 1) return invalid("Expected input_shape to be a vector; got shape: {}", s.shape.shape());
  if (axes.dims() > 1) return invalid("Expected reduction_axes to be a scalar or a vector; got shape: {}", axes.shape());
  const std::int64_t rank = s.shape.size();
  std::vector<bool> reduced(static_cast<std::size_t>(rank), false);
  for (std::int32_t axis : axes.values()) {
    if (axis < -rank || axis >= rank) return invalid("Invalid reduction dimension {}, for input with {} dimensions.", axis, rank);
    reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  TRY_ASSIGN(const Shape shape, Shape::checked(s.sizes()));
  TRY(check_parts(s.indices, s.values, rank));
  Reduction r;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool gone = reduced[static_cast<std::size_t>(d)];
    if (!gone) r.kept.push_back(d);
    if (!gone || keep) r.shape.add_dim(gone ? 1 : shape.dim(static_cast<int>(d)));
  }
  r.order = r.kept;
  for (std::int64_t d = 0; d < rank; ++d)
    if (reduced[static_cast<std::size_t>(d)]) r.order.push_back(d);
  return r;
}

struct Sum {
  template <class T>
  T operator()(std::span<const T> values) const {
    if constexpr (std::is_integral_v<T>) {
      T sum = 0;
      for (const T& x : values) sum = wrap_add(sum, x);
      return sum;
    } else {
      return ConstArrayMap<T>(values.data(), static_cast<std::int64_t>(values.size())).sum();
    }
  }
};
struct Max {
  template <class T>
  T operator()(std::span<const T> values) const {
    T best = lowest_of<T>();
    for (const T& x : values) best = greater_of(best, x);
    return best;
  }
};

/// Calls f(a row of the group, the group reduced) for each group.
template <class T, class Reduce, class F>
Status for_each_group(const SparseIn& s, const Reduction& r, Reduce reduce, F&& f) {
  const auto order = sorted_rows(s.indices, r.order);
  const Tensor sorted = take_rows(s.values, order);
  return for_each_run(s.indices, order, r.kept,
                      [&](std::size_t first, std::size_t last) { return f(order[first], reduce(sorted.values<T>().subspan(first, last - first))); });
}

template <class T, class Reduce>
Status reduce_dense(Call& call, const SparseIn& s, const In<std::int32_t>& axes, bool keep, Reduce reduce) {
  TRY_ASSIGN(const Reduction r, plan_reduction(s, axes, keep));
  T* out = call.alloc<T>(0, r.shape);
  const std::int64_t size = r.shape.elements();
  std::fill_n(out, size, T(0));
  return for_each_group<T>(s, r, reduce, [&](std::int64_t row, T value) -> Status {
    std::uint64_t at = 0;
    for (std::int64_t d : r.kept) {
      const auto c = static_cast<std::size_t>(d);
      at = at * static_cast<std::uint64_t>(s.sizes()[c]) + static_cast<std::uint64_t>(s.row(row)[c]);
    }
    if (at >= static_cast<std::uint64_t>(size))
      return internal("Obtained a write index of {} which is outside of bounds of [0, {})", static_cast<std::int64_t>(at), size);
    out[at] = value;
    return absl::OkStatus();
  });
}

template <class T, class Reduce>
Status reduce_sparse(Call& call, const SparseIn& s, const In<std::int32_t>& axes, bool keep, Reduce reduce) {
  TRY_ASSIGN(const Reduction r, plan_reduction(s, axes, keep));
  std::vector<std::int64_t> indices;
  std::vector<T> values;
  TRY(for_each_group<T>(s, r, reduce, [&](std::int64_t row, T value) -> Status {
    const std::size_t at = indices.size();
    indices.resize(at + static_cast<std::size_t>(r.shape.rank()), 0);
    for (std::size_t k = 0; k < r.kept.size(); ++k) {
      const auto d = static_cast<std::size_t>(r.kept[k]);
      indices[at + (keep ? d : k)] = s.row(row)[d];
    }
    values.push_back(value);
    return absl::OkStatus();
  }));
  call.set(0, Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size()), r.shape.rank()}, indices));
  call.set(1, Tensor::vector<T>(values));
  call.set(2, sizes_tensor(r.shape.dims()));
  return absl::OkStatus();
}

template <class T>
void softmax_of(std::span<const T> x, T* out) {
  const T most = Max{}(x);
  T sum = T(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    using std::exp;
    out[i] = static_cast<T>(exp(static_cast<T>(x[i] - most)));
    sum += out[i];
  }
  const T scale = T(1) / sum;
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = out[i] * scale;
}

template <class T>
Status softmax(Call& call, const SparseIn& s) {
  if (s.indices.rank() != 2) return invalid("Input sp_indices should be a matrix but received shape: {}", s.indices.shape());
  if (s.values.rank() != 1 || s.shape.rank() != 1)
    return invalid("Inputs sp_values and sp_shape should be vectors but received shapes: {} and {}", s.values.shape(), s.shape.shape());
  if (s.shape.size() < 2) return invalid("Input should have rank >= 2, but received shape: {}", summarize(s.shape, 3));
  TRY_ASSIGN(const Shape shape, Shape::checked(s.sizes()));
  TRY(check_parts(s.indices, s.values, shape.rank()));
  const auto columns = all_columns(s.rank());
  const auto order = sorted_rows(s.indices, columns);
  const Tensor sorted = take_rows(s.values, order);
  T* out = call.alloc<T>(0, s.values.shape());
  return for_each_run(s.indices, order, std::span(columns).first(columns.size() - 1), [&](std::size_t first, std::size_t last) -> Status {
    softmax_of(sorted.values<T>().subspan(first, last - first), out + first);
    return absl::OkStatus();
  });
}

}  // namespace

void add_sparse_reductions(Registry& ops) {
  using I = std::int64_t;
  const auto add = [&ops](const char* dense, const char* sparse, auto ts, auto reduce) {
    ops.add(dense, ts, [reduce]<class T>(Call& call, In<I> at, In<T> values, In<I> shape, In<std::int32_t> axes, Attr<"keep_dims", bool> keep) {
      return reduce_dense<T>(call, {at.tensor, values.tensor, shape.tensor}, axes, keep, reduce);
    });
    ops.add(sparse, ts, [reduce]<class T>(Call& call, In<I> at, In<T> values, In<I> shape, In<std::int32_t> axes, Attr<"keep_dims", bool> keep) {
      return reduce_sparse<T>(call, {at.tensor, values.tensor, shape.tensor}, axes, keep, reduce);
    });
  };
  add("SparseReduceSum", "SparseReduceSumSparse", numbers{}, Sum{});
  add("SparseReduceMax", "SparseReduceMaxSparse", reals{}, Max{});
  ops.add("SparseSoftmax", types<half, float, double>{}, []<class T>(Call& call, In<I> at, In<T> values, In<I> shape) {
    return softmax<T>(call, {at.tensor, values.tensor, shape.tensor});
  });
}

}  // namespace troupe
