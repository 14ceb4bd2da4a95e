// Copying of rows, whatever their type.
#include <troupe/ops/resources/rows.hpp>

#include <troupe/ops/array/storage.hpp>

#include <algorithm>

namespace troupe {
namespace {

Shape without_first(const Shape& shape) {
  Shape rest = shape;
  rest.remove_dim(0);
  return rest;
}

Shape with_first(std::int64_t n, const Shape& shape) {
  Shape all = shape;
  all.insert_dim(0, n);
  return all;
}

/// Copies a smaller block into the corner of a larger one.
template <class S>
void copy_block(const S* from, const Shape& small, S* to, const Shape& large, int dim) {
  if (dim == small.rank()) {
    *to = *from;
    return;
  }
  const std::int64_t from_step = small.elements(dim + 1, small.rank()), to_step = large.elements(dim + 1, large.rank());
  for (std::int64_t i = 0; i < small.dim(dim); ++i) copy_block(from + i * from_step, small, to + i * to_step, large, dim + 1);
}

}  // namespace

void copy_elements(const Tensor& from, std::int64_t first, Tensor& to, std::int64_t at, std::int64_t count) {
  by_storage(from.dtype(), [&]<class S>() { std::copy_n(from.data<S>() + first, count, to.mutable_data<S>() + at); });
}

Tensor row_of(const Tensor& batch, std::int64_t i) {
  Tensor row(batch.dtype(), without_first(batch.shape()));
  copy_elements(batch, i * row.size(), row, 0, row.size());
  return row;
}

Tensor stack_rows(DType dtype, const Shape& element, const std::vector<Tensor>& rows) {
  Tensor batch(dtype, with_first(static_cast<std::int64_t>(rows.size()), element));
  const std::int64_t n = element.elements();
  for (std::size_t i = 0; i < rows.size(); ++i) copy_elements(rows[i], 0, batch, static_cast<std::int64_t>(i) * n, n);
  return batch;
}

Tensor stack_padded(DType dtype, const Shape& largest, const std::vector<Tensor>& rows) {
  Tensor batch = Tensor::zeros(dtype, with_first(static_cast<std::int64_t>(rows.size()), largest));
  const std::int64_t n = largest.elements();
  by_storage(dtype, [&]<class S>() {
    for (std::size_t i = 0; i < rows.size(); ++i)
      copy_block<S>(rows[i].data<S>(), rows[i].shape(), batch.mutable_data<S>() + static_cast<std::int64_t>(i) * n, largest, 0);
  });
  return batch;
}

}  // namespace troupe
