// Diagonal tensors of any rank, and bands of matrices.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

Status diag(Call& call, const Tensor& x) {
  if (x.rank() < 1) return invalid("Input must be at least rank 1, got {}", x.rank());
  Shape shape = x.shape();
  for (std::int64_t n : x.shape()) shape.add_dim(n);
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  call.set(0, Tensor::zeros(x.dtype(), shape));
  Walk walk;
  walk.add(x.size(), 1, x.size() + 1);
  copy_along(walk, x, call.out(0));
  return absl::OkStatus();
}

Status diag_part(Call& call, const Tensor& x) {
  if (x.rank() % 2 != 0)
    return invalid("The rank of the tensor should be                                          even and positive, got shape {}", x.shape());
  const int half_rank = x.rank() / 2;
  Shape shape;
  for (int d = 0; d < half_rank; ++d) {
    if (x.dim(d) != x.dim(d + half_rank)) return invalid("Invalid shape {}: dimensions {} and {} do not match.", x.shape(), d, d + half_rank);
    shape.add_dim(x.dim(d));
  }
  Walk walk;
  walk.add(shape.elements(), shape.elements() + 1, 1);
  copy_along(walk, x, call.alloc(0, x.dtype(), shape));
  return absl::OkStatus();
}

Status band_part(Call& call, const Tensor& x, const Tensor& lower_tensor, const Tensor& upper_tensor) {
  if (x.rank() < 2) return invalid("input must be at least 2-dim, received shape: {}", x.shape());
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  if (lower_tensor.rank() != 0) return invalid("num_lower must be scalar, got shape {}", lower_tensor.shape());
  const std::int64_t lower = as_integer(lower_tensor);
  if (lower > rows) return invalid("num_lower must be negative or less or equal to number of rows ({}) got: {}", rows, lower);
  if (upper_tensor.rank() != 0) return invalid("num_upper must be scalar, got shape {}", upper_tensor.shape());
  const std::int64_t upper = as_integer(upper_tensor);
  if (upper > columns) return invalid("num_upper must be negative or less or equal to number of columns ({}) got: {}", columns, upper);
  call.set(0, Tensor::zeros(x.dtype(), x.shape()));
  by_storage(x.dtype(), [&]<class S>() {
    const S* from = x.data<S>();
    S* to = call.out(0).mutable_data<S>();
    for (std::int64_t r = 0; columns > 0 && r < x.size() / columns; ++r) {
      const std::int64_t row = r % rows;
      const std::int64_t first = lower < 0 ? 0 : std::clamp<std::int64_t>(row - lower, 0, columns);
      const std::int64_t end = upper < 0 ? columns : std::clamp<std::int64_t>(row + upper + 1, first, columns);
      std::copy_n(from + r * columns + first, end - first, to + r * columns + first);
    }
  });
  return absl::OkStatus();
}

}  // namespace

void add_diag(Registry& ops) {
  const ForTypes diagonal_types{"T", {DType::f16, DType::f32, DType::f64, DType::i32, DType::i64, DType::c64, DType::c128}};
  add_for(ops, "Diag", {diagonal_types}, [](Call& call, Any x) { return diag(call, x.tensor); });
  add_for(ops, "DiagPart", {diagonal_types}, [](Call& call, Any x) { return diag_part(call, x.tensor); });
  auto band = [](Call& call, Any x, Any lower, Any upper) { return band_part(call, x.tensor, lower.tensor, upper.tensor); };
  add_for(ops, "MatrixBandPart", {{"T", dtypes::plain()}}, band);
  add_for(ops, "BatchMatrixBandPart", {{"T", dtypes::numeric()}}, band);
}

}  // namespace troupe
