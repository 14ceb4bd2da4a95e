// SparseToDense and SparseReorder: a sparse tensor written out, or put in order.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

Status check_dense_inputs(const Tensor& indices, const Tensor& shape, const Tensor& values, const Tensor& otherwise) {
  if (indices.rank() > 2) return invalid("sparse_indices should be a scalar, vector, or matrix, got shape {}", indices.shape());
  const std::int64_t rows = indices.rank() > 0 ? indices.dim(0) : 1, rank = indices.rank() > 1 ? indices.dim(1) : 1;
  if (shape.rank() != 1) return invalid("output_shape must be rank 1, got shape {}", shape.shape());
  if (shape.size() != rank) return invalid("output_shape has incorrect number of elements: {} should be: {}", shape.size(), rank);
  if (values.rank() != 0 && (values.rank() != 1 || values.size() != rows))
    return invalid("sparse_values has incorrect shape {}, should be [] or [{}]", values.shape(), rows);
  if (otherwise.rank() != 0) return invalid("default_value should be a scalar.");
  return absl::OkStatus();
}

/// Indices as a matrix of int64, whatever they came as.
Tensor index_matrix(const Tensor& indices, std::int64_t rank) {
  const std::int64_t rows = indices.rank() > 0 ? indices.dim(0) : 1;
  if (indices.dtype() == DType::i64) return indices.reshaped(Shape{rows, rank});
  Tensor wide(DType::i64, Shape{rows, rank});
  std::copy_n(indices.data<std::int32_t>(), indices.size(), wide.mutable_data<std::int64_t>());
  return wide;
}

Status to_dense(Call& call, const Tensor& indices, const Tensor& sizes, const Tensor& values, const Tensor& otherwise, bool validate) {
  TRY(check_dense_inputs(indices, sizes, values, otherwise));
  TRY_ASSIGN(const Shape shape, make_shape(sizes));
  const Tensor rows = index_matrix(indices, shape.rank());
  if (validate) TRY(check_order(rows, shape.dims()));
  Tensor& out = call.alloc(0, values.dtype(), shape);
  fill_with(otherwise, out);
  const Dims steps = steps_of(shape);
  bool inside = true;
  by_storage(values.dtype(), [&]<class S>() {
    const S* from = values.data<S>();
    S* to = out.mutable_data<S>();
    const std::int64_t* index = rows.data<std::int64_t>();
    for (std::int64_t i = 0; i < rows.dim(0) && inside; ++i) {
      std::int64_t at = 0;
      for (int d = 0; d < shape.rank(); ++d, ++index) {
        inside = inside && *index >= 0 && *index < shape.dim(d);
        if (inside) at += *index * steps[static_cast<std::size_t>(d)];
      }
      if (inside) to[at] = values.rank() == 0 ? *from : from[i];
    }
  });
  return inside ? absl::OkStatus() : invalid("Indices are not valid (out of bounds).  Shape: {}", shape);
}

Status reorder(Call& call, const SparseIn& s) {
  TRY(check_together(s));
  if (check_order(s.indices, s.sizes()).ok()) {
    call.set(0, s.indices);
    call.set(1, s.values);
    return absl::OkStatus();
  }
  const auto rows = sorted_rows(s.indices, all_columns(s.rank()));
  call.set(0, take_rows(s.indices, rows));
  call.set(1, take_rows(s.values, rows));
  return absl::OkStatus();
}

}  // namespace

void add_sparse_to_dense(Registry& ops) {
  const DTypes small_quantized{DType::qi8, DType::qu8, DType::qi16, DType::qu16};
  add_for(ops, "SparseToDense", {{"T", dtypes::plain_strings() + small_quantized}, {"Tindices", list_of(indices{})}},
          [](Call& call, Any indices, Any shape, Any values, Any otherwise, Attr<"validate_indices", bool> validate) {
            return to_dense(call, indices.tensor, shape.tensor, values.tensor, otherwise.tensor, validate);
          });
  add_for(ops, "SparseReorder", {{"T", dtypes::all()}}, [](Call& call, Any indices, Any values, Any shape) {
    return reorder(call, {indices.tensor, values.tensor, shape.tensor});
  });
}

}  // namespace troupe
