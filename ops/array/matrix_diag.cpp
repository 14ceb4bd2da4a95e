// Diagonals to matrices, out of matrices and into matrices.
#include <troupe/ops/array/matrix_diag.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

StatusOr<Diagonals> read_diagonals(const Tensor& k, const char* none) {
  if (k.rank() > 1) return invalid("diag_index must be a scalar or vector, received shape: {}", k.shape());
  const Dims given = as_dims(k);
  if (given.empty()) return invalid("{}", none);
  if (given.size() > 2) return invalid("diag_index must have only one or two elements, received {} elements.", given.size());
  return Diagonals{given[0], given.back()};
}

Status check_order(const Diagonals& d) {
  if (d.lower <= d.upper) return absl::OkStatus();
  return invalid("lower_diag_index must not be larger than upper_diag_index: {} > {}", d.lower, d.upper);
}

/// `stop`: what follows the number in the first of the two messages.
Status check_bounds(const Diagonals& d, std::int64_t rows, std::int64_t columns, const char* stop) {
  auto outside = [&](std::int64_t k) { return k != 0 && (k <= -rows || k >= columns); };
  if (outside(d.lower)) return invalid("lower_diag_index is out of bound: {}{} It must be between {} and {}", d.lower, stop, -rows, columns);
  if (outside(d.upper)) return invalid("upper_diag_index is out of bound: {} It must be between {} and {}", d.upper, -rows, columns);
  return check_order(d);
}

/// num_rows and num_columns, -1 where they follow from the diagonals.
Status settle_size(const Diagonals& d, std::int64_t length, std::int64_t& rows, std::int64_t& columns) {
  const std::int64_t least_rows = length - std::min<std::int64_t>(d.upper, 0), least_columns = length + std::max<std::int64_t>(d.lower, 0);
  if (rows != -1 && rows < least_rows) return invalid("The number of rows is too small.");
  if (columns != -1 && columns < least_columns) return invalid("The number of columns is too small.");
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(least_rows, least_columns);
  } else if (rows == -1) {
    rows = least_rows;
  } else if (columns == -1) {
    columns = least_columns;
  }
  if (rows != least_rows && columns != least_columns)
    return invalid("The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
  return absl::OkStatus();
}

struct Size {
  std::int64_t rows = -1, columns = -1;
};

Status matrix_diag(Call& call, const Tensor& diagonal, const Diagonals& d, Size size, const Tensor* padding, Alignment align) {
  if (diagonal.rank() < 1) return invalid("diagonal must be at least 1-dim, received shape: {}", diagonal.shape());
  TRY(check_order(d));
  const int rank = diagonal.rank();
  if (d.count() > 1 && (rank < 2 || diagonal.dim(rank - 2) != d.count()))
    return invalid("The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range.");
  const std::int64_t length = diagonal.dim(rank - 1);
  TRY(settle_size(d, length, size.rows, size.columns));
  Shape shape;
  for (int i = 0; i < rank - (d.count() > 1 ? 2 : 1); ++i) shape.add_dim(diagonal.dim(i));
  const std::int64_t batch = shape.elements();
  shape.add_dim(size.rows);
  shape.add_dim(size.columns);
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  call.set(0, Tensor::zeros(diagonal.dtype(), shape));
  Tensor& out = call.out(0);
  if (padding) fill_with(*padding, out);
  if (out.size() == 0) return absl::OkStatus();
  by_storage(out.dtype(), [&]<class S>() {
    for (std::int64_t b = 0; b < batch; ++b)
      for_each_diagonal(d, size.rows, size.columns, length, align, [&](std::int64_t at, std::int64_t packed, std::int64_t n) {
        const S* from = diagonal.data<S>() + b * d.count() * length + packed;
        S* to = out.mutable_data<S>() + b * size.rows * size.columns + at;
        for (std::int64_t i = 0; i < n; ++i) to[i * (size.columns + 1)] = from[i];
      });
  });
  return absl::OkStatus();
}

Status matrix_diag_part(Call& call, const Tensor& x, const Diagonals& d, const Tensor* padding, Alignment align) {
  if (x.rank() < 2) return invalid("input must be at least 2-dim, received shape: {}", x.shape());
  if (padding && padding->rank() != 0) return invalid("Padding must be scalar.");
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  TRY(check_bounds(d, rows, columns, "."));
  const std::int64_t length = longest(d, rows, columns), batch = x.shape().elements(0, x.rank() - 2);
  Shape shape;
  for (int i = 0; i < x.rank() - 2; ++i) shape.add_dim(x.dim(i));
  if (d.count() > 1) shape.add_dim(d.count());
  shape.add_dim(length);
  call.set(0, Tensor::zeros(x.dtype(), shape));
  Tensor& out = call.out(0);
  if (padding) fill_with(*padding, out);
  if (out.size() == 0 || x.size() == 0) return absl::OkStatus();
  by_storage(out.dtype(), [&]<class S>() {
    for (std::int64_t b = 0; b < batch; ++b)
      for_each_diagonal(d, rows, columns, length, align, [&](std::int64_t at, std::int64_t packed, std::int64_t n) {
        const S* from = x.data<S>() + b * rows * columns + at;
        S* to = out.mutable_data<S>() + b * d.count() * length + packed;
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * (columns + 1)];
      });
  });
  return absl::OkStatus();
}

Status matrix_set_diag(Call& call, const Tensor& x, const Tensor& diagonal, const Diagonals& d, Alignment align) {
  if (x.rank() < 2) return invalid("input must be at least 2-dim, received shape: {}", x.shape());
  if (diagonal.rank() < 1) return invalid("diagonal must be at least 1-dim, received shape: {}", diagonal.shape());
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  TRY(check_bounds(d, rows, columns, ""));
  if (d.count() > 1 && (x.rank() != diagonal.rank() || diagonal.dim(diagonal.rank() - 2) != d.count()))
    return invalid("The number of diagonals provided in `diag` is not consistent with `lower_diag_index` and `upper_diag_index`");
  const std::int64_t length = longest(d, rows, columns), batch = x.shape().elements(0, x.rank() - 2);
  Shape expected;
  for (int i = 0; i < x.rank() - 2; ++i) expected.add_dim(x.dim(i));
  if (d.count() > 1) expected.add_dim(d.count());
  expected.add_dim(length);
  if (diagonal.shape() != expected)
    return invalid(
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the longests "
        "diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: {}\nDiagonal shape: {}\nExpected diagonal shape: {}",
        x.shape(), diagonal.shape(), expected);
  call.set(0, x.unique() ? x : x.copy());
  Tensor& out = call.out(0);
  if (out.size() == 0) return absl::OkStatus();
  by_storage(out.dtype(), [&]<class S>() {
    for (std::int64_t b = 0; b < batch; ++b)
      for_each_diagonal(d, rows, columns, length, align, [&](std::int64_t at, std::int64_t packed, std::int64_t n) {
        const S* from = diagonal.data<S>() + b * d.count() * length + packed;
        S* to = out.mutable_data<S>() + b * rows * columns + at;
        for (std::int64_t i = 0; i < n; ++i) to[i * (columns + 1)] = from[i];
      });
  });
  return absl::OkStatus();
}

constexpr const char* no_index = "Expected diag_index to have at least 1 element";

Status matrix_diag_v2(Call& call, Any diagonal, Any k, Any rows, Any columns, Any padding, Alignment align) {
  if (diagonal->rank() < 1) return invalid("diagonal must be at least 1-dim, received shape: {}", diagonal->shape());
  TRY_ASSIGN(const Diagonals d, read_diagonals(k.tensor, no_index));
  if (rows->rank() != 0) return invalid("num_rows must be a scalar");
  if (columns->rank() != 0) return invalid("num_cols must be a scalar");
  if (padding->rank() != 0) return invalid("padding_value must be a scalar");
  return matrix_diag(call, diagonal.tensor, d, {as_integer(rows.tensor), as_integer(columns.tensor)}, &padding.tensor, align);
}

Status matrix_diag_part_v2(Call& call, Any x, Any k, Any padding, Alignment align) {
  if (x->rank() < 2) return invalid("input must be at least 2-dim, received shape: {}", x->shape());
  TRY_ASSIGN(const Diagonals d, read_diagonals(k.tensor, no_index));
  return matrix_diag_part(call, x.tensor, d, &padding.tensor, align);
}

Status matrix_set_diag_v2(Call& call, Any x, Any diagonal, Any k, Alignment align) {
  TRY_ASSIGN(const Diagonals d, read_diagonals(k.tensor, "diag_index must have at least one element"));
  return matrix_set_diag(call, x.tensor, diagonal.tensor, d, align);
}

}  // namespace

void add_matrix_diag(Registry& ops) {
  using Align = Attr<"align", std::string>;
  const ForTypes types{"T", dtypes::plain()};
  add_for(ops, {"MatrixDiag", "BatchMatrixDiag"}, {types}, [](Call& call, Any x) { return matrix_diag(call, x.tensor, {}, {}, nullptr, {}); });
  add_for(ops, "MatrixDiagV2", {types},
          [](Call& call, Any x, Any k, Any rows, Any columns, Any padding) { return matrix_diag_v2(call, x, k, rows, columns, padding, {}); });
  add_for(ops, "MatrixDiagV3", {types}, [](Call& call, Any x, Any k, Any rows, Any columns, Any padding, Align align) {
    return matrix_diag_v2(call, x, k, rows, columns, padding, Alignment::of(*align));
  });
  add_for(ops, {"MatrixDiagPart", "BatchMatrixDiagPart"}, {types},
          [](Call& call, Any x) { return matrix_diag_part(call, x.tensor, {}, nullptr, {}); });
  add_for(ops, "MatrixDiagPartV2", {types}, [](Call& call, Any x, Any k, Any padding) { return matrix_diag_part_v2(call, x, k, padding, {}); });
  add_for(ops, "MatrixDiagPartV3", {types},
          [](Call& call, Any x, Any k, Any padding, Align align) { return matrix_diag_part_v2(call, x, k, padding, Alignment::of(*align)); });
  add_for(ops, {"MatrixSetDiag", "BatchMatrixSetDiag"}, {types},
          [](Call& call, Any x, Any diagonal) { return matrix_set_diag(call, x.tensor, diagonal.tensor, {}, {}); });
  add_for(ops, "MatrixSetDiagV2", {types}, [](Call& call, Any x, Any diagonal, Any k) { return matrix_set_diag_v2(call, x, diagonal, k, {}); });
  add_for(ops, "MatrixSetDiagV3", {types},
          [](Call& call, Any x, Any diagonal, Any k, Align align) { return matrix_set_diag_v2(call, x, diagonal, k, Alignment::of(*align)); });
}

}  // namespace troupe
