// Checks and order of sparse tensors.
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <troupe/ops/array/storage.hpp>

#include <algorithm>
#include <numeric>

namespace troupe {

Status check_ranks(const SparseIn& s) {
  if (s.indices.rank() != 2) return invalid("Input indices should be a matrix but received shape {}", s.indices.shape());
  if (s.values.rank() != 1) return invalid("Input values should be a vector but received shape {}", s.values.shape());
  if (s.shape.rank() != 1) return invalid("Input shape should be a vector but received shape {}", s.shape.shape());
  return absl::OkStatus();
}

Status check_parts(const Tensor& indices, const Tensor& values, std::int64_t rank) {
  if (values.rank() != 1) return invalid("vals must be a vec, but got: {}", values.shape());
  const std::int64_t rows = indices.rank() > 0 ? indices.dim(0) : 1;
  if (rows != values.dim(0))
    return invalid("indices and values rows (indexing dimension) must match. (indices = {}, values = {})", rows, values.dim(0));
  if (indices.rank() != 2) return invalid("indices must be a matrix, but got: {}", indices.shape());
  if (indices.dim(1) != rank) return invalid("Order length must be SparseTensor rank.");
  return absl::OkStatus();
}

Status check_together(const SparseIn& s) {
  if (s.indices.rank() != 2) return invalid("Sparse indices must be rank 2 but is rank {}", s.indices.rank());
  if (s.values.rank() != 1) return invalid("Sparse values must be rank 1 but is rank {}", s.values.rank());
  if (s.shape.rank() != 1) return invalid("Sparse shape must be rank 1 but is rank {}", s.shape.rank());
  if (s.values.dim(0) != s.rows()) return invalid("Number of elements in indices ({}) and values ({}) do not match", s.rows(), s.values.dim(0));
  if (s.shape.size() != s.rank()) return invalid("Index rank ({}) and shape rank ({}) do not match", s.rank(), s.shape.size());
  return absl::OkStatus();
}

Status check_bounds(const SparseIn& s) {
  for (std::int64_t i = 0; i < s.rows(); ++i) {
    const auto row = s.row(i);
    for (std::size_t d = 0; d < row.size(); ++d)
      if (row[d] < 0 || row[d] >= s.sizes()[d]) return invalid("Sparse index tuple indices[{}, :] = [{}] is out of bounds", i, fmt::join(row, ", "));
  }
  return absl::OkStatus();
}

Status check_order(const Tensor& indices, std::span<const std::int64_t> shape) {
  const std::size_t rank = shape.size();
  for (std::int64_t i = 0; i < indices.dim(0); ++i) {
    const std::span<const std::int64_t> row(indices.data<std::int64_t>() + i * static_cast<std::int64_t>(rank), rank);
    for (std::size_t d = 0; d < rank; ++d)
      if (row[d] < 0 || row[d] >= shape[d])
        return invalid("indices[{}] = [{}] is out of bounds: need 0 <= index < [{}]", i, fmt::join(row, ","), fmt::join(shape, ","));
    if (i == 0) continue;
    const int order = compare_rows({row.data() - rank, rank}, row);
    if (order > 0)
      return invalid(
          "indices[{}] = [{}] is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a "
          "correctly ordered copy.\n\n",
          i, fmt::join(row, ","));
    if (order == 0) return invalid("indices[{}] = [{}] is repeated", i, fmt::join(row, ","));
  }
  return absl::OkStatus();
}

int compare_rows(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  return 0;
}

std::vector<std::int64_t> sorted_rows(const Tensor& indices, std::span<const std::int64_t> columns) {
  const std::int64_t rank = indices.dim(1);
  const std::int64_t* data = indices.data<std::int64_t>();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(indices.dim(0)));
  std::iota(rows.begin(), rows.end(), 0);
  // Not a stable sort: rows that repeat come out as they do in TensorFlow, which uses this very algorithm.
  std::sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t c : columns) {
      const std::int64_t x = data[a * rank + c], y = data[b * rank + c];
      if (x != y) return x < y;
    }
    return false;
  });
  return rows;
}

std::vector<std::int64_t> all_columns(std::int64_t rank) {
  std::vector<std::int64_t> columns(static_cast<std::size_t>(rank));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

Tensor take_rows(const Tensor& t, std::span<const std::int64_t> rows) {
  Shape shape = t.shape();
  const std::int64_t inner = shape.elements(1, shape.rank());
  shape.set_dim(0, static_cast<std::int64_t>(rows.size()));
  Tensor taken(t.dtype(), shape);
  by_storage(t.dtype(), [&]<class S>() {
    S* to = taken.mutable_data<S>();
    for (std::int64_t row : rows) to = std::copy_n(t.data<S>() + row * inner, inner, to);
  });
  return taken;
}

Tensor sizes_tensor(std::span<const std::int64_t> sizes) { return Tensor::vector<std::int64_t>(sizes); }

}  // namespace troupe
