// Tensors joined along a dimension, existing or new.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// Writes the inputs one after another within each outer position; all have been checked against the shape.
void join(Call& call, List values, const Shape& shape, std::int64_t outer) {
  Tensor& out = call.alloc(0, values[0].dtype(), shape);
  if (out.size() == 0) return;
  const std::int64_t row = out.size() / outer;
  by_storage(out.dtype(), [&]<class S>() {
    S* to = out.mutable_data<S>();
    for (int i = 0; i < values.size(); ++i) {
      const std::int64_t n = values[i].size() / outer;
      const S* from = values[i].data<S>();
      for (std::int64_t o = 0; o < outer; ++o) std::copy_n(from + o * n, n, to + o * row);
      to += n;
    }
  });
}

Status concat(Call& call, List values, const Tensor& axis, const char* name) {
  if (axis.size() != 1 || axis.rank() > 1) return invalid("{} tensor should be a scalar integer, but got shape {}", name, axis.shape());
  const Shape& first = values[0].shape();
  const int rank = first.rank();
  const std::int64_t given = as_integer(axis), at = given < 0 ? given + rank : given;
  if (rank == 0) return invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  if (at < 0 || at >= rank) return invalid("ConcatOp : Expected concatenating dimensions in the range [-{}, {}), but got {}", rank, rank, given);
  Shape shape = first;
  for (int i = 1; i < values.size(); ++i) {
    const Shape& other = values[i].shape();
    if (other.rank() != rank) return invalid("ConcatOp : Ranks of all input tensors should match: shape[0] = {} vs. shape[{}] = {}", first, i, other);
    for (int d = 0; d < rank; ++d)
      if (d != at && other.dim(d) != first.dim(d))
        return invalid("ConcatOp : Dimension {} in both shapes must be equal: shape[0] = {} vs. shape[{}] = {}", d, first, i, other);
    shape.set_dim(static_cast<int>(at), shape.dim(static_cast<int>(at)) + other.dim(static_cast<int>(at)));
  }
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  join(call, values, shape, shape.elements(0, static_cast<int>(at)));
  return absl::OkStatus();
}

Status pack(Call& call, List values, std::int64_t axis) {
  const Shape& first = values[0].shape();
  for (int i = 1; i < values.size(); ++i)
    if (values[i].shape() != first)
      return invalid("Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {}", first, i, values[i].shape());
  const int rank = first.rank() + 1;
  if (axis < -rank || axis >= rank) return invalid("axis = {} not in [-{}, {})", axis, rank, rank);
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  Shape shape = first;
  shape.insert_dim(at, values.size());
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  join(call, values, shape, first.elements(0, at));
  return absl::OkStatus();
}

template <class I>
Status concat_offset(Call& call, Any axis, List shapes) {
  if (axis->rank() != 0) return invalid("Concat dim tensor should be a scalar integer, but got shape {}", axis->shape());
  for (int i = 0; i < shapes.size(); ++i)
    if (shapes[i].rank() != 1) return invalid("input {} should be a vector, but got shape {}", i + 1, shapes[i].shape());
  const std::span<const I> first = shapes[0].values<I>();
  const auto rank = static_cast<std::int64_t>(first.size());
  const std::int64_t given = as_integer(axis.tensor), at = given < 0 ? given + rank : given;
  if (at < 0 || at >= rank) return invalid("Concat dim is out of range: {} vs. {}", given, rank);
  I offset = 0;
  for (int i = 0; i < shapes.size(); ++i) {
    const std::span<const I> shape = shapes[i].values<I>();
    if (shape.size() != first.size()) return invalid("input {} should contain {} elements, but got {}", i, rank, shape.size());
    I* out = call.alloc<I>(i, Shape{rank});
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool here = static_cast<std::int64_t>(d) == at;
      out[d] = here ? offset : I{0};
      if (!here && shape[d] != first[d])
        return invalid("All dimensions except {} must match. Input {} has shape [{}] and doesn't match input 0 with shape [{}].", at, i,
                       fmt::join(shape, " "), fmt::join(first, " "));
    }
    offset = static_cast<I>(static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(shape[static_cast<std::size_t>(at)]));
  }
  return absl::OkStatus();
}

/// Every input is one row of the result.
Status parallel_concat(Call& call, List values, const PartialShape& declared) {
  const auto known = declared.known();
  if (!known) return invalid("Shape {} is not fully defined", declared);
  Shape row = *known;
  if (row.rank() > 0) row.set_dim(0, 1);
  for (int i = 0; i < values.size(); ++i) {
    if (values[i].shape() != row) return invalid("update shape doesn't match: {}", values[i].shape());
    if (row.rank() == 0 || known->dim(0) != values.size())
      return invalid("Inconsistent input and output shapes: {} inputs of shape {} for {}", values.size(), values[i].shape(), *known);
  }
  join(call, values, *known, 1);
  return absl::OkStatus();
}

}  // namespace

void add_concat(Registry& ops) {
  const DTypes joinable = dtypes::plain_strings() + dtypes::quantized() + dtypes::quantized16() + dtypes::float8();
  add_for(ops, "Concat", {{"T", joinable}}, [](Call& call, Any axis, List values) { return concat(call, values, axis.tensor, "concat_dim"); });
  add_for(ops, "ConcatV2", {{"T", joinable}}, [](Call& call, List values, Any axis) { return concat(call, values, axis.tensor, "axis"); });
  add_for(ops, "Pack", {{"T", joinable + DTypes{DType::resource, DType::variant}}},
          [](Call& call, List values, Attr<"axis", std::int64_t> axis) { return pack(call, values, axis); });
  add_for(ops, "ParallelConcat", {{"T", dtypes::plain_strings()}},
          [](Call& call, List values, Attr<"shape", PartialShape> shape) { return parallel_concat(call, values, *shape); });
  add_for(ops, "ConcatOffset", {{"shape_type", {DType::i32}}},
          [](Call& call, Any axis, List shapes) { return concat_offset<std::int32_t>(call, axis, shapes); });
  add_for(ops, "ConcatOffset", {{"shape_type", {DType::i64}}},
          [](Call& call, Any axis, List shapes) { return concat_offset<std::int64_t>(call, axis, shapes); });
}

}  // namespace troupe
