// A box cut out of a sparse tensor, and the gradient.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

/// What remains of each dimension.
StatusOr<Shape> sliced_shape(const Shape& shape, const std::int64_t* start, const std::int64_t* size) {
  Shape result = shape;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t n = shape.dim(d);
    std::int64_t rest = 0;
    std::int64_t most = 0;
    const bool far = __builtin_sub_overflow(n, size[d], &most);
    if (!far && start[d] < most) rest = size[d];
    else if (start[d] < n && __builtin_sub_overflow(n, start[d], &rest)) rest = -1;
    else if (start[d] >= n) rest = 0;
    if (rest < 0) return invalid("Expected a non-negative size, got {}", rest);
    result.set_dim(d, rest);
    TRY(Shape::checked(result.dims()).status());
  }
  return result;
}

Status slice(Call& call, const SparseIn& s, const Tensor& start, const Tensor& size) {
  TRY(check_together(s));
  if (start.rank() != 1) return invalid("Input start should be a vector but received shape {}", start.shape());
  if (size.rank() != 1) return invalid("Input size should be a vector but received shape {}", size.shape());
  const std::int64_t rank = s.shape.size();
  if (start.size() != rank) return invalid("Expected start to be a vector of length {} but got length {}", rank, start.size());
  if (size.size() != rank) return invalid("Expected size to be a vector of length {} but got length {}", rank, size.size());
  TRY_ASSIGN(const Shape shape, Shape::checked(s.sizes()));
  const auto* from = start.data<std::int64_t>();
  TRY_ASSIGN(const Shape rest, sliced_shape(shape, from, size.data<std::int64_t>()));
  std::vector<std::int64_t> hits;
  for (std::int64_t i = 0; i < s.rows(); ++i) {
    const auto row = s.row(i);
    bool hit = true;
    for (std::int64_t d = 0; d < rank && hit; ++d) {
      std::int64_t past = 0;
      const bool open = __builtin_add_overflow(from[d], size.data<std::int64_t>()[d], &past);
      const std::int64_t at = row[static_cast<std::size_t>(d)];
      hit = from[d] <= at && (open || at < past);
    }
    if (hit) hits.push_back(i);
  }
  Tensor indices = take_rows(s.indices, hits);
  std::int64_t* index = indices.mutable_data<std::int64_t>();
  for (std::size_t i = 0; i < hits.size(); ++i)
    for (std::int64_t d = 0; d < rank; ++d) *index++ -= from[d];
  call.set(0, std::move(indices));
  call.set(1, take_rows(s.values, hits));
  call.set(2, sizes_tensor(rest.dims()));
  return absl::OkStatus();
}

template <class T>
Status slice_gradient(Call& call, const In<T>& gradient, const In<std::int64_t>& in, const In<std::int64_t>& start, const In<std::int64_t>& out) {
  if (in.dims() != 2 || out.dims() != 2)
    return invalid("Input and output indices should be matrices but received shapes: {} and {}", in.shape(), out.shape());
  if (gradient.dims() != 1) return invalid("Input backprop_val_grad should be a vector but received shape: {}", gradient.shape());
  if (in.dim(1) != out.dim(1)) return invalid("The input and output should have the same ndims: got: {} and {}", in.dim(1), out.dim(1));
  if (out.dim(0) > in.dim(0))
    return invalid("# rows of output_indices should be not greater than of input_indices, got {} and {}", out.dim(0), in.dim(0));
  if (gradient.size() != out.dim(0))
    return invalid("# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got {} and {}", gradient.size(),
                   out.dim(0));
  if (start.dims() != 1) return invalid("The input_start should be a vector but received shape {}", start.shape());
  const std::int64_t rank = in.dim(1);
  if (start.size() != rank) return invalid("Expected input_start to be a vector of length {} but got length {}", rank, start.size());
  T* result = call.alloc<T>(0, Shape{in.dim(0)});
  std::fill_n(result, in.dim(0), T(0));
  std::int64_t used = 0;
  for (std::int64_t i = 0; i < in.dim(0) && used < gradient.size(); ++i) {
    bool same = true;
    for (std::int64_t d = 0; d < rank && same; ++d)
      same = static_cast<std::uint64_t>(in[i * rank + d]) == static_cast<std::uint64_t>(out[used * rank + d]) + static_cast<std::uint64_t>(start[d]);
    if (same) result[i] = gradient[used++];
  }
  if (used != gradient.size())
    return internal("Elements of backprop_val_grad aren't all propagated. Num elements:{}, used: {}", gradient.size(), used);
  return absl::OkStatus();
}

}  // namespace

void add_sparse_slice(Registry& ops) {
  add_for(ops, "SparseSlice", {{"T", dtypes::all()}}, [](Call& call, Any indices, Any values, Any shape, Any start, Any size) {
    return slice(call, {indices.tensor, values.tensor, shape.tensor}, start.tensor, size.tensor);
  });
  ops.add("SparseSliceGrad", numbers{}, []<class T>(Call& call, In<T> gradient, In<std::int64_t> in, In<std::int64_t> start, In<std::int64_t> out) {
    return slice_gradient(call, gradient, in, start, out);
  });
}

}  // namespace troupe
