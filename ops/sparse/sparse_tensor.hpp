// Sparse tensors as kernels get them: a matrix of indices, a vector of values and a vector of sizes.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

struct SparseIn {
  const Tensor &indices, &values, &shape;

  std::int64_t rows() const { return indices.dim(0); }
  std::int64_t rank() const { return indices.dim(1); }
  std::span<const std::int64_t> row(std::int64_t i) const { return {indices.data<std::int64_t>() + i * rank(), static_cast<std::size_t>(rank())}; }
  std::span<const std::int64_t> sizes() const { return shape.values<std::int64_t>(); }
};

/// A matrix, a vector and a vector: "Input indices should be a matrix but received shape [3]", and so on.
Status check_ranks(const SparseIn& s);
/// Parts that belong to each other, in the words of TensorFlow's class of sparse tensors; the shape has `rank` sizes.
Status check_parts(const Tensor& indices, const Tensor& values, std::int64_t rank);
/// Ranks and lengths, in the words of the kernels that were made later.
Status check_together(const SparseIn& s);
/// Every index within the shape, in the words of check_together.
Status check_bounds(const SparseIn& s);
/// Every row of indices within the shape and behind the one before.
Status check_order(const Tensor& indices, std::span<const std::int64_t> shape);

/// -1, 0 or 1 as the first row comes before, with or after the second.
int compare_rows(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
/// The numbers of the rows, sorted by these columns of the indices one after the other.
std::vector<std::int64_t> sorted_rows(const Tensor& indices, std::span<const std::int64_t> columns);
/// The columns 0, 1, ….
std::vector<std::int64_t> all_columns(std::int64_t rank);
/// Rows of the first dimension, in this order.
Tensor take_rows(const Tensor& t, std::span<const std::int64_t> rows);

/// Says which rows of a sparse tensor agree in the given columns: calls f(first, last) for each run of `order`.
template <class F>
Status for_each_run(const Tensor& indices, std::span<const std::int64_t> order, std::span<const std::int64_t> columns, F&& f) {
  const std::int64_t rank = indices.dim(1);
  const std::int64_t* data = indices.data<std::int64_t>();
  const auto alike = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t c : columns)
      if (data[a * rank + c] != data[b * rank + c]) return false;
    return true;
  };
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && alike(order[first], order[last])) ++last;
    TRY(f(first, last));
    first = last;
  }
  return absl::OkStatus();
}

/// A vector of sizes, as a sparse tensor carries its shape.
Tensor sizes_tensor(std::span<const std::int64_t> sizes);

}  // namespace troupe
