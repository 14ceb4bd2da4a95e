// Joining sparse tensors along a dimension, and splitting them.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

struct Parts {
  List indices, values, shapes;
  int size() const { return indices.size(); }
};

Status check_lists(const Parts& p) {
  for (int i = 0; i < p.size(); ++i)
    if (p.indices[i].rank() != 2) return invalid("Input indices should be a matrix but received shape {} at position {}", p.indices[i].shape(), i);
  if (p.values.size() != p.size()) return invalid("Expected {} input values, got {}", p.size(), p.values.size());
  for (int i = 0; i < p.size(); ++i)
    if (p.values[i].rank() != 1) return invalid("Input values should be a vector but received shape {} at position {}", p.values[i].shape(), i);
  if (p.shapes.size() != p.size()) return invalid("Expected {} input shapes, got {}", p.size(), p.shapes.size());
  for (int i = 0; i < p.size(); ++i)
    if (p.shapes[i].rank() != 1) return invalid("Input shapes should be a vector but received shape {} at position {}", p.shapes[i].shape(), i);
  return absl::OkStatus();
}

/// TensorFlow takes a negative size for an overflow.
StatusOr<Shape> part_shape(const Tensor& sizes) {
  auto shape = Shape::checked(sizes.values<std::int64_t>());
  if (!shape.ok()) return internal("Encountered overflow from large input shape.");
  return shape;
}

/// The shape of the whole; the sizes along the dimension add up.
StatusOr<Shape> joined_shape(const Parts& p, std::int64_t given_axis, int& axis) {
  if (p.size() == 0) return invalid("Expected at least one sparse tensor");
  TRY_ASSIGN(Shape whole, part_shape(p.shapes[0]));
  const int rank = whole.rank();
  axis = static_cast<int>(given_axis < 0 ? rank + given_axis : given_axis);
  if (axis < 0 || axis >= rank) return invalid("Concat dimension must be in range [{}, {}), got {}", -rank, rank, given_axis);
  for (int i = 1; i < p.size(); ++i) {
    TRY_ASSIGN(const Shape shape, part_shape(p.shapes[i]));
    if (shape.rank() != rank) return invalid("Ranks of all input tensors must match: expected {} but got {} at position {}", rank, shape.rank(), i);
    for (int d = 0; d < rank; ++d)
      if (d != axis && shape.dim(d) != whole.dim(d))
        return invalid("Input shapes must match: expected {} for dimension {} but got {} at position {}", whole.dim(d), d, shape.dim(d), i);
    whole.set_dim(axis, whole.dim(axis) + shape.dim(axis));
    TRY(Shape::checked(whole.dims()).status());
  }
  return whole;
}

Status concat(Call& call, const Parts& p, std::int64_t given_axis) {
  TRY(check_lists(p));
  int axis = 0;
  TRY_ASSIGN(const Shape whole, joined_shape(p, given_axis, axis));
  std::int64_t rows = 0;
  for (int i = 0; i < p.size(); ++i) {
    TRY(check_parts(p.indices[i], p.values[i], whole.rank()));
    rows += p.indices[i].dim(0);
  }
  // As TensorFlow does, and so with its order of repeated rows: each part is sorted with the dimension first, then the whole.
  std::vector<std::int64_t> columns = all_columns(whole.rank());
  std::rotate(columns.begin(), columns.begin() + axis, columns.begin() + axis + 1);
  Tensor indices(DType::i64, Shape{rows, whole.rank()}), values(p.values[0].dtype(), Shape{rows});
  std::int64_t* index = indices.mutable_data<std::int64_t>();
  std::int64_t at = 0, offset = 0;
  for (int i = 0; i < p.size(); ++i) {
    const auto order = sorted_rows(p.indices[i], columns);
    const Tensor sorted = take_rows(p.indices[i], order);
    for (std::int64_t r = 0; r < sorted.dim(0); ++r, index += whole.rank()) {
      std::copy_n(sorted.data<std::int64_t>() + r * whole.rank(), whole.rank(), index);
      index[axis] += offset;
    }
    copy_into(take_rows(p.values[i], order), values, at);
    at += sorted.dim(0);
    offset += p.shapes[i].data<std::int64_t>()[axis];
  }
  const auto order = sorted_rows(indices, all_columns(whole.rank()));
  call.set(0, take_rows(indices, order));
  call.set(1, take_rows(values, order));
  call.set(2, sizes_tensor(whole.dims()));
  return absl::OkStatus();
}

/// How a dimension is cut: the first `longer` slices have one more than `size`.
struct Cut {
  std::int64_t size, longer;
  std::int64_t slice_of(std::int64_t at) const {
    const std::int64_t first = longer * (size + 1);
    return at < first ? at / (size + 1) : longer + (at - first) / size;
  }
  std::int64_t start_of(std::int64_t slice) const { return slice * size + std::min(slice, longer); }
};

Status split(Call& call, const Tensor& axis_tensor, const SparseIn& s, std::int64_t count) {
  if (axis_tensor.rank() != 0) return invalid("split_dim should be a scalar, got shape {}", axis_tensor.shape());
  if (s.indices.rank() == 2 && s.values.rank() != 1) return invalid("Input values should be a vector but received shape {}", s.indices.shape());
  TRY(check_ranks(s));
  TRY(check_together(s));
  TRY(check_bounds(s));
  const std::int64_t given = axis_tensor.item<std::int64_t>(), rank = s.shape.size(), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return invalid("Input axis should be in range [{}, {}), got {}", -rank, rank, given);
  const std::int64_t size = s.sizes()[static_cast<std::size_t>(axis)];
  if (count < 1 || count > size) return invalid("Input num_split should be between 1 and the splitting dimension size ({}), got {}", size, count);
  TRY_ASSIGN(const Shape shape, make_shape(s.sizes()));
  const Cut cut{size / count, size % count};
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < s.rows(); ++i) {
    const std::int64_t at = s.row(i)[static_cast<std::size_t>(axis)];
    rows[static_cast<std::size_t>(cut.slice_of(at))].push_back(i);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const int o = static_cast<int>(k), n = static_cast<int>(count);
    Tensor indices = take_rows(s.indices, rows[static_cast<std::size_t>(k)]);
    for (std::int64_t i = 0; i < indices.dim(0); ++i) indices.mutable_data<std::int64_t>()[i * rank + axis] -= cut.start_of(k);
    Shape part = shape;
    part.set_dim(static_cast<int>(axis), cut.start_of(k + 1) - cut.start_of(k));
    call.set(o, std::move(indices));
    call.set(o + n, take_rows(s.values, rows[static_cast<std::size_t>(k)]));
    call.set(o + 2 * n, sizes_tensor(part.dims()));
  }
  return absl::OkStatus();
}

}  // namespace

void add_sparse_concat(Registry& ops) {
  add_for(ops, "SparseConcat", {{"T", dtypes::all()}}, [](Call& call, List indices, List values, List shapes, Attr<"concat_dim", std::int64_t> axis) {
    return concat(call, {indices, values, shapes}, axis);
  });
  add_for(ops, "SparseSplit", {{"T", dtypes::all()}},
          [](Call& call, Any axis, Any indices, Any values, Any shape, Attr<"num_split", std::int64_t> count) {
            return split(call, axis.tensor, {indices.tensor, values.tensor, shape.tensor}, count);
          });
}

}  // namespace troupe
