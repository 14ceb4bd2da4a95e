// Slices combined with updates at indices of several dimensions.
#include <troupe/ops/array/combine.hpp>
#include <troupe/ops/array/nd_index.hpp>
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/variables.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// Nothing to write, or something to write and somewhere to write it.
bool consistent(std::int64_t elements, std::int64_t indices, std::int64_t updates) {
  return (indices == 0 && updates == 0) || (elements != 0 && indices != 0 && updates != 0);
}

Status prefix_differs(std::int64_t batch, const Tensor& indices, const Tensor& updates) {
  const auto first = [](const Tensor& t) { return t.rank() > 0 ? t.dim(0) : 1; };
  return invalid("Dimensions [0,{}) of indices[shape={}] = {} must match dimensions [0,{}) of updates[shape={}] = {}", batch, indices.shape(),
                 first(indices), batch, updates.shape(), first(updates));
}

struct Plan {
  std::vector<std::int64_t> offsets;
  std::int64_t size = 0;  // of a slice
};

/// Checks that the updates fit the slices that the indices name, and finds those.
StatusOr<Plan> plan(const Shape& shape, const Tensor& indices, const Tensor& updates) {
  if (shape.rank() < 1) return invalid("Output must be at least 1-D, got shape: {}", shape);
  if (!consistent(shape.elements(), indices.size(), updates.size()))
    return invalid("Indices and updates specified for empty output.  indices shape: {}", indices.shape());
  const bool many = indices.rank() > 1;
  const std::int64_t depth = many ? indices.dim(indices.rank() - 1) : 1, batch = many ? indices.rank() - 1 : 1;
  if (indices.rank() < 1 || updates.rank() < 1 || updates.dim(0) != indices.dim(0)) return prefix_differs(1, indices, updates);
  auto suffix_differs = [&] {
    return invalid("Dimensions [{},{}) of input[shape={}] must match dimensions [{},{}) of updates[shape={}]", depth, shape.rank(), shape, depth,
                   updates.rank(), updates.shape());
  };
  if (updates.rank() < batch) return prefix_differs(batch, indices, updates);
  if (updates.rank() != batch + shape.rank() - depth) return suffix_differs();
  for (int d = 0; d < batch; ++d)
    if (updates.dim(d) != indices.dim(d)) return prefix_differs(batch, indices, updates);
  for (int d = 0; d < updates.rank() - batch; ++d)
    if (updates.dim(d + static_cast<int>(batch)) != shape.dim(d + static_cast<int>(depth))) return suffix_differs();
  // Of a vector of indices TensorFlow takes the first alone.
  const std::int64_t count = many ? indices.shape().elements(0, static_cast<int>(batch)) : std::min<std::int64_t>(indices.dim(0), 1);
  NdOffsets found = nd_offsets(indices, shape, depth, count);
  if (found.bad >= 0) {
    Shape rows = indices.shape();
    rows.remove_dim(rows.rank() - 1);
    return invalid("indices{} = [{}] does not index into shape {}", index_text(rows, found.bad), nd_index_text(indices, depth, found.bad), shape);
  }
  return Plan{std::move(found.offsets), shape.elements(static_cast<int>(depth), shape.rank())};
}

Status check_ranks(const Tensor& indices, const Tensor& updates) {
  if (indices.rank() < 1) return invalid("Indices shape must have rank at least one. Found:{}", indices.shape());
  if (updates.rank() < 1) return invalid("Updates shape must have rank at least one. Found:{}", updates.shape());
  return absl::OkStatus();
}

/// What ScatterNd checks before anything else, each part with a text of its own.
Status check_scatter_nd(const Shape& shape, const Tensor& indices, const Tensor& updates) {
  const int outer = indices.rank() - 1;
  for (int d = 0; d < outer; ++d)
    if (d >= updates.rank() || indices.dim(d) != updates.dim(d))
      return invalid("Dimensions [0,{}) of indices[shape={}] must match dimensions [0,{}) of updates[shape={}]", outer, indices.shape(), outer,
                     updates.shape());
  const std::int64_t depth = indices.dim(outer);
  bool fits = updates.rank() - outer == shape.rank() - depth;
  for (int d = 0; fits && d + outer < updates.rank(); ++d) fits = updates.dim(d + outer) == shape.dim(d + static_cast<int>(depth));
  if (fits) return absl::OkStatus();
  return invalid("Dimensions [{},{}) of input[shape={}] must match dimensions [{},{}) of updates[shape={}]", depth, shape.rank(), shape, outer,
                 updates.rank(), updates.shape());
}

Status scatter_nd(Call& call, const Tensor& indices, const Tensor& updates, const Tensor& sizes) {
  TRY(check_ranks(indices, updates));
  if (sizes.rank() != 1) return invalid("Shape must be a vector");
  if (!consistent(sizes.size(), indices.size(), updates.size())) return invalid("Indices and updates specified for empty output shape");
  TRY_ASSIGN(const Shape shape, make_shape(sizes));
  TRY(check_scatter_nd(shape, indices, updates));
  TRY_ASSIGN(const Plan p, plan(shape, indices, updates));
  call.set(0, Tensor::zeros(updates.dtype(), shape));
  combine_slices(Combine::add, call.out(0), p.offsets, p.size, updates, false);
  return absl::OkStatus();
}

Status check_tensor_scatter(const Shape& shape, const Tensor& indices, const Tensor& updates) {
  TRY(check_ranks(indices, updates));
  if (!consistent(shape.elements(), indices.size(), updates.size())) return invalid("Indices and updates specified for empty output shape");
  const int outer = indices.rank() - 1;
  for (int d = 0; d < outer; ++d)
    if (d >= updates.rank() || indices.dim(d) != updates.dim(d))
      return invalid("Outer dimensions of indices and update must match. Indices shape: {}, updates shape:{}", indices.shape(), updates.shape());
  const std::int64_t depth = indices.dim(outer), inner = updates.rank() - outer;
  if (inner != shape.rank() - depth)
    return invalid("Inner dimensions of output shape must match inner dimensions of updates shape. Output: {} updates: {}", shape, updates.shape());
  for (int d = 0; d < inner; ++d)
    if (updates.dim(d + outer) != shape.dim(d + static_cast<int>(depth)))
      return invalid("The inner {} dimensions of output.shape={} must match the inner {} dimensions of updates.shape={}", inner, shape, inner,
                     updates.shape());
  return absl::OkStatus();
}

/// Output 0 is the input with its slices combined, in the input's memory where nobody else needs that.
Status scatter_into_copy(Call& call, const Tensor& x, const Tensor& indices, const Tensor& updates, Combine how) {
  TRY_ASSIGN(const Plan p, plan(x.shape(), indices, updates));
  call.set(0, x.unique() ? x : x.copy());
  combine_slices(how, call.out(0), p.offsets, p.size, updates, false);
  return absl::OkStatus();
}

Status scatter_into_variable(Call& call, AnyVar ref, const Tensor& indices, const Tensor& updates, Combine how) {
  TRY(check_readable(call, ref, updates.dtype()));
  TRY_ASSIGN(const Plan p, plan(ref->snapshot().shape(), indices, updates));
  if (!p.offsets.empty()) combine_slices(how, ref->writable(), p.offsets, p.size, updates, false);
  return absl::OkStatus();
}

void add_to_variable(Registry& ops, const char* by_ref, const char* by_handle, Combine how, const DTypes& types) {
  add_for(ops, {by_ref, by_handle}, {{"T", types}},
          [how](Call& call, AnyVar ref, Any indices, Any updates) { return scatter_into_variable(call, ref, indices.tensor, updates.tensor, how); });
}

void add_to_tensor(Registry& ops, const char* name, Combine how, const DTypes& types) {
  add_for(ops, name, {{"T", types}, {"Tindices", {DType::i32, DType::i64}}}, [how](Call& call, Any x, Any indices, Any updates) -> Status {
    TRY(check_tensor_scatter(x->shape(), indices.tensor, updates.tensor));
    return scatter_into_copy(call, x.tensor, indices.tensor, updates.tensor, how);
  });
}

}  // namespace

void add_scatter_nd(Registry& ops) {
  add_for(ops, "ScatterNd", {{"T", dtypes::plain_strings()}, {"Tindices", {DType::i32, DType::i64}}},
          [](Call& call, Any indices, Any updates, Any shape) { return scatter_nd(call, indices.tensor, updates.tensor, shape.tensor); });
  add_for(ops, "ScatterNdNonAliasingAdd", {{"T", dtypes::plain()}}, [](Call& call, Any x, Any indices, Any updates) {
    return scatter_into_copy(call, x.tensor, indices.tensor, updates.tensor, Combine::add);
  });
  add_to_variable(ops, "ScatterNdUpdate", "ResourceScatterNdUpdate", Combine::update, dtypes::plain_strings());
  add_to_variable(ops, "ScatterNdAdd", "ResourceScatterNdAdd", Combine::add, dtypes::plain());
  add_to_variable(ops, "ScatterNdSub", "ResourceScatterNdSub", Combine::sub, dtypes::plain());
  add_to_variable(ops, "ScatterNdMin", "ResourceScatterNdMin", Combine::min, dtypes::real());
  add_to_variable(ops, "ScatterNdMax", "ResourceScatterNdMax", Combine::max, dtypes::real());
  add_to_tensor(ops, "TensorScatterUpdate", Combine::update, dtypes::plain_strings());
  add_to_tensor(ops, "TensorScatterAdd", Combine::add, dtypes::numeric());
  add_to_tensor(ops, "TensorScatterSub", Combine::sub, dtypes::numeric());
  add_to_tensor(ops, "TensorScatterMin", Combine::min, dtypes::real());
  add_to_tensor(ops, "TensorScatterMax", Combine::max, dtypes::real());
}

}  // namespace troupe
