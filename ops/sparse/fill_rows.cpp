// A default value for each row that has none, in sparse and in ragged tensors, and the gradients.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <algorithm>

namespace troupe {
namespace {

/// Rows of indices (one column for a ragged tensor) that are to be filled.
struct Filling {
  const Tensor &indices, &values, &otherwise;
  std::int64_t rows;  // of the dense tensor
  bool ragged;

  std::int64_t count() const { return values.dim(0); }
  std::int64_t rank() const { return ragged ? 1 : indices.dim(1); }
  const std::int64_t* index(std::int64_t i) const { return indices.data<std::int64_t>() + i * rank(); }
  Shape indices_shape(std::int64_t n) const { return ragged ? Shape{n} : Shape{n, rank()}; }
};

Status check_filling(const Tensor& indices, const Tensor& values, const Tensor& otherwise, bool ragged) {
  if (ragged && indices.rank() != 1) return invalid("value_rowids must be a vector, saw: {}", indices.shape());
  if (!ragged && indices.rank() != 2) return invalid("indices must be a matrix, saw: {}", indices.shape());
  if (values.rank() != 1) return invalid("values must be a vector, saw: {}", values.shape());
  if (indices.dim(0) != values.dim(0))
    return invalid("The length of `values` ({}) must match the first dimension of `{}` ({}).", values.dim(0), ragged ? "value_rowids" : "indices",
                   indices.dim(0));
  if (otherwise.rank() != 0) return invalid("default_value must be a scalar, saw: {}", otherwise.shape());
  return absl::OkStatus();
}

Status nothing_to_fill(Call& call, const Filling& f) {
  if (f.count() != 0) return invalid("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {}", f.count());
  call.alloc<std::int64_t>(0, Shape{0, f.rank()});
  call.alloc(1, f.values.dtype(), Shape{0});
  return absl::OkStatus();
}

/// Where each row's values end once every row has one at least.
StatusOr<std::vector<std::int64_t>> row_ends(const Filling& f, bool* empty, bool& in_order, bool& full) {
  std::vector<std::int64_t> ends(static_cast<std::size_t>(f.rows), 0);
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < f.count(); ++i) {
    const std::int64_t row = *f.index(i);
    if (row < 0 || row >= f.rows) return invalid("indices({}, 0) is invalid: {} >= {}", i, row, f.rows);
    ++ends[static_cast<std::size_t>(row)];
    in_order = in_order && row >= last;
    last = row;
  }
  std::int64_t end = 0;
  for (std::int64_t& n : ends) {
    *empty++ = n == 0;
    full = full && n > 0;
    end += std::max<std::int64_t>(n, 1);
    n = end;
  }
  return ends;
}

Status fill(Call& call, const Filling& f) {
  if (f.rows < 0) return invalid("Expected shape dimensions to be non-negative, got {}", f.rows);
  bool* empty = call.alloc<bool>(2, Shape{f.rows});
  std::int64_t* places = call.alloc<std::int64_t>(3, Shape{f.count()});
  if (f.rows == 0) return nothing_to_fill(call, f);
  if (f.rank() < 1) return invalid("indices must have at least one column, saw: {}", f.indices.shape());
  bool in_order = true, full = true;
  TRY_ASSIGN(std::vector<std::int64_t> next, row_ends(f, empty, in_order, full));
  if (in_order && full) {
    call.set(0, f.indices);
    call.set(1, f.values);
    for (std::int64_t i = 0; i < f.count(); ++i) places[i] = i;
    return absl::OkStatus();
  }
  const std::int64_t total = next.back();
  std::int64_t* indices = call.alloc<std::int64_t>(0, f.indices_shape(total));
  Tensor& values = call.alloc(1, f.values.dtype(), Shape{total});
  std::move_backward(next.begin(), next.end() - 1, next.end());
  next.front() = 0;
  by_storage(values.dtype(), [&]<class S>() {
    S* to = values.mutable_data<S>();
    for (std::int64_t i = 0; i < f.count(); ++i) {
      const std::int64_t at = places[i] = next[static_cast<std::size_t>(*f.index(i))]++;
      std::copy_n(f.index(i), f.rank(), indices + at * f.rank());
      to[at] = f.values.data<S>()[i];
    }
    for (std::int64_t row = 0; row < f.rows; ++row) {
      if (!empty[row]) continue;
      const std::int64_t at = next[static_cast<std::size_t>(row)];
      std::fill_n(indices + at * f.rank(), f.rank(), 0);
      indices[at * f.rank()] = row;
      to[at] = f.otherwise.item<S>();
    }
  });
  return absl::OkStatus();
}

template <class T>
Status fill_gradient(Call& call, const In<std::int64_t>& places, const In<T>& gradient) {
  if (places.dims() != 1) return invalid("reverse_index_map must be a vector, saw: {}", places.shape());
  if (gradient.dims() != 1) return invalid("grad_values must be a vector, saw: {}", gradient.shape());
  const std::int64_t n = gradient.size();
  T* out = call.alloc<T>(0, places.shape());
  std::vector<bool> visited(static_cast<std::size_t>(n), false);
  for (std::int64_t i = 0; i < places.size(); ++i) {
    const std::int64_t at = places[i];
    if (at < 0 || at >= n) return invalid("Elements in reverse index must be in [0, {}) but got {}", n, at);
    out[i] = gradient[at];
    visited[static_cast<std::size_t>(at)] = true;
  }
  T rest = T(0);
  for (std::int64_t i = 0; i < n; ++i)
    if (!visited[static_cast<std::size_t>(i)]) rest = static_cast<T>(rest + gradient[i]);
  call.set_scalar<T>(1, rest);
  return absl::OkStatus();
}

}  // namespace

void add_sparse_fill_rows(Registry& ops) {
  add_for(ops, "SparseFillEmptyRows", {{"T", dtypes::all()}}, [](Call& call, Any indices, Any values, Any shape, Any otherwise) -> Status {
    if (shape->rank() != 1) return invalid("dense_shape must be a vector, saw: {}", shape->shape());
    TRY(check_filling(indices.tensor, values.tensor, otherwise.tensor, false));
    if (shape->size() != indices->dim(1))
      return invalid("The length of `dense_shape` ({}) must match the second dimension of `indices` ({}).", shape->size(), indices->dim(1));
    if (shape->size() == 0) return invalid("Dense shape cannot be empty.");
    return fill(call, {indices.tensor, values.tensor, otherwise.tensor, shape->item<std::int64_t>(), false});
  });
  add_for(ops, "RaggedFillEmptyRows", {{"T", dtypes::all()}}, [](Call& call, Any rowids, Any values, Any rows, Any otherwise) -> Status {
    if (rows->rank() != 0) return invalid("nrows must be a scalar, saw: {}", rows->shape());
    TRY(check_filling(rowids.tensor, values.tensor, otherwise.tensor, true));
    return fill(call, {rowids.tensor, values.tensor, otherwise.tensor, rows->item<std::int64_t>(), true});
  });
  ops.add({"SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad"}, numbers{},
          []<class T>(Call& call, In<std::int64_t> places, In<T> gradient) { return fill_gradient(call, places, gradient); });
}

}  // namespace troupe
