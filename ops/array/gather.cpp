// Rows picked by index.
#include <troupe/ops/array/nd_index.hpp>
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/variables.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe {
namespace {

/// Params as [batch, outer, limit, inner], indices as [batch, count].
struct Layout {
  std::int64_t batch, outer, limit, inner, count;
};

constexpr std::int64_t rows_ahead = 8;

/// The position of the first index out of range, or -1.
template <class S, class I>
std::int64_t pick(const S* params, const I* indices, S* out, const Layout& l) {
  for (std::int64_t b = 0; b < l.batch; ++b)
    for (std::int64_t o = 0; o < l.outer; ++o) {
      const S* from = params + (b * l.outer + o) * l.limit * l.inner;
      for (std::int64_t i = 0; i < l.count; ++i) {
        const auto at = static_cast<std::int64_t>(indices[b * l.count + i]);
        if (at < 0 || at >= l.limit) return b * l.count + i;
        // Rows are scattered over a table that no cache holds: those to come are fetched meanwhile.
        if (i + rows_ahead < l.count)
          __builtin_prefetch(from +
                             std::clamp<std::int64_t>(static_cast<std::int64_t>(indices[b * l.count + i + rows_ahead]), 0, l.limit - 1) * l.inner);
        if (l.inner == 1) *out = from[at];
        else std::copy_n(from + at * l.inner, l.inner, out);
        out += l.inner;
      }
    }
  return -1;
}

std::int64_t pick(const Tensor& params, const Tensor& indices, Tensor& out, const Layout& layout) {
  std::int64_t bad = -1;
  by_storage(out.dtype(), [&]<class S>() {
    by_index(indices.dtype(), [&]<class I>() { bad = pick(params.data<S>(), indices.data<I>(), out.mutable_data<S>(), layout); });
  });
  return bad;
}

std::int64_t index_at(const Tensor& indices, std::int64_t at) {
  std::int64_t value = 0;
  by_index(indices.dtype(), [&]<class I>() { value = static_cast<std::int64_t>(indices.data<I>()[at]); });
  return value;
}

StatusOr<std::int64_t> check_batch(const Tensor& params, const Tensor& indices, std::int64_t axis, std::int64_t given) {
  if (given == 0) return 0;
  if (given < -indices.rank() || given > indices.rank())
    return invalid("Expected batch_dims in the range [{}, {}], but got {}", -indices.rank(), indices.rank(), given);
  const std::int64_t batch = given < 0 ? given + indices.rank() : given;
  if (batch >= params.rank()) return invalid("batch_dims ({}) must be less than rank(params) ({}).", batch, params.rank());
  if (axis < batch) return invalid("batch_dims ({}) must be less than or equal to axis ({}).", batch, axis);
  for (int i = 0; i < batch; ++i)
    if (params.dim(i) != indices.dim(i))
      return invalid("params.shape[{}]: {} should be equal to indices.shape[{}]: {}", i, params.dim(i), i, indices.dim(i));
  return batch;
}

Status check_index_space(const Tensor& params, std::int64_t axis, DType index) {
  std::int64_t most = 0;
  by_index(index, [&]<class I>() { most = static_cast<std::int64_t>(std::numeric_limits<I>::max()); });
  const std::int64_t n = params.dim(static_cast<int>(axis));
  if (n <= most) return absl::OkStatus();
  return invalid("params.shape[{}] too large for {} indexing: {} > {}", axis, name_of(index), n, most);
}

StatusOr<Shape> gathered_shape(const Tensor& params, const Tensor& indices, int axis, int batch) {
  Shape shape;
  for (int i = 0; i < axis; ++i) shape.add_dim(params.dim(i));
  for (int i = batch; i < indices.rank(); ++i) shape.add_dim(indices.dim(i));
  for (int i = axis + 1; i < params.rank(); ++i) shape.add_dim(params.dim(i));
  return Shape::checked(shape.dims());
}

Status gather(Call& call, const Tensor& params, const Tensor& indices, std::int64_t given_axis, std::int64_t batch_dims) {
  const std::int64_t least_rank = given_axis < 0 ? -given_axis : given_axis + 1;
  if (params.rank() < least_rank) return invalid("Shape must be at least rank {} but is rank {}", least_rank, params.rank());
  const int axis = static_cast<int>(given_axis < 0 ? given_axis + params.rank() : given_axis);
  TRY_ASSIGN(const std::int64_t batches, check_batch(params, indices, axis, batch_dims));
  TRY(check_index_space(params, axis, indices.dtype()));
  const int batch = static_cast<int>(batches);
  TRY_ASSIGN(const Shape shape, gathered_shape(params, indices, axis, batch));
  Tensor& out = call.alloc(0, params.dtype(), shape);
  if (shape.elements() == 0) return absl::OkStatus();
  const Layout layout{params.shape().elements(0, batch), params.shape().elements(batch, axis), params.dim(axis),
                      params.shape().elements(axis + 1, params.rank()), indices.shape().elements(batch, indices.rank())};
  const std::int64_t bad = pick(params, indices, out, layout);
  if (bad < 0) return absl::OkStatus();
  return invalid("indices{} = {} is not in [0, {})", index_text(indices.shape(), bad), index_at(indices, bad), params.dim(axis));
}

Status gather_v2(Call& call, Any params, Any indices, Any axis, std::int64_t batch_dims) {
  if (params->rank() < 1) return invalid("params must be at least 1 dimensional");
  if (axis->rank() != 0) return invalid("axis must be scalar");
  return gather(call, params.tensor, indices.tensor, as_integer(axis.tensor), batch_dims);
}

/// Batches of a variable are consecutive rows; TensorFlow checks an index only after the batch's offset is added.
Status gather_variable(Call& call, const Tensor& params, const Tensor& indices, std::int64_t batch_dims) {
  if (params.rank() < 1) return invalid("params must be at least 1 dimensional");
  if (batch_dims <= 0) return gather(call, params, indices, 0, 0);
  TRY_ASSIGN(const std::int64_t batches, check_batch(params, indices, batch_dims, batch_dims));
  const int batch = static_cast<int>(batches);
  TRY_ASSIGN(const Shape shape, gathered_shape(params, indices, batch, batch));
  Tensor& out = call.alloc(0, params.dtype(), shape);
  if (shape.elements() == 0) return absl::OkStatus();
  Tensor moved(DType::i64, indices.shape());
  const std::int64_t count = indices.shape().elements(batch, indices.rank());
  for (std::int64_t i = 0; i < indices.size(); ++i) moved.mutable_data<std::int64_t>()[i] = index_at(indices, i) + i / count * params.dim(batch);
  const std::int64_t bad = pick(
      params, moved, out, Layout{1, 1, params.shape().elements(0, batch + 1), params.shape().elements(batch + 1, params.rank()), indices.size()});
  if (bad < 0) return absl::OkStatus();
  return invalid("indices{} = {} is not in [0, {})", index_text(indices.shape(), bad), index_at(moved, bad), params.dim(0));
}

Status gather_nd(Call& call, const Tensor& params, const Tensor& indices) {
  if (params.rank() < 1) return invalid("params must be at least a vector");
  if (indices.rank() < 1) return invalid("indices must be at least a vector");
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank()) return invalid("index innermost dimension length must be <= params rank; saw: {} vs. {}", depth, params.rank());
  Shape rows = indices.shape(), shape;
  rows.remove_dim(rows.rank() - 1);
  shape = rows;
  for (int d = static_cast<int>(depth); d < params.rank(); ++d) shape.add_dim(params.dim(d));
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  const std::int64_t count = rows.elements(), slice = params.shape().elements(static_cast<int>(depth), params.rank());
  if (count > 0 && params.size() == 0) return invalid("Requested more than 0 entries, but params is empty.  Params shape: {}", params.shape());
  Tensor& out = call.alloc(0, params.dtype(), shape);
  NdOffsets at = nd_offsets(indices, params.shape(), depth, count);
  if (at.bad >= 0)
    return invalid("indices{} = [{}] does not index into param shape {}, node name: {}", index_text(rows, at.bad),
                   nd_index_text(indices, depth, at.bad), params.shape(), call.node().name);
  by_storage(out.dtype(), [&]<class S>() {
    const S* from = params.data<S>();
    S* to = out.mutable_data<S>();
    for (std::int64_t i = 0; i < count; ++i, to += slice) std::copy_n(from + at.offsets[static_cast<std::size_t>(i)], slice, to);
  });
  return absl::OkStatus();
}

}  // namespace

void add_gather(Registry& ops) {
  const DTypes all = dtypes::all() + dtypes::quantized();
  const ForTypes params{"Tparams", all + dtypes::quantized16() + dtypes::float8()}, nd_params{"Tparams", all + dtypes::float8()};
  add_for(ops, "Gather", {params}, [](Call& call, Any params, Any indices) -> Status {
    if (params->rank() < 1) return invalid("params must be at least 1 dimensional");
    return gather(call, params.tensor, indices.tensor, 0, 0);
  });
  add_for(ops, "GatherV2", {params}, [](Call& call, Any params, Any indices, Any axis, Attr<"batch_dims", std::int64_t> batch) {
    return gather_v2(call, params, indices, axis, batch);
  });
  add_for(ops, "GatherNd", {nd_params}, [](Call& call, Any params, Any indices) { return gather_nd(call, params.tensor, indices.tensor); });
  add_for(ops, "ResourceGather", {{"dtype", all}},
          [](Call& call, AnyVar params, Any indices, Attr<"dtype", DType> dtype, Attr<"batch_dims", std::int64_t> batch) -> Status {
            TRY(check_readable(call, params, dtype));
            return gather_variable(call, params->snapshot(), indices.tensor, batch);
          });
  add_for(ops, "ResourceGatherNd", {{"dtype", dtypes::all()}}, [](Call& call, AnyVar params, Any indices, Attr<"dtype", DType> dtype) -> Status {
    TRY(check_readable(call, params, dtype));
    return gather_nd(call, params->snapshot(), indices.tensor);
  });
}

}  // namespace troupe
