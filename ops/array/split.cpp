// A tensor cut along a dimension.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

#include <numeric>

namespace troupe {
namespace {

/// Output i gets its part of dimension `at`; where the cut runs between whole rows, the parts share the input's memory.
void cut(Call& call, const Tensor& x, int at, const Dims& parts, bool drop_dimension) {
  const std::int64_t outer = x.shape().elements(0, at), inner = x.shape().elements(at + 1, x.rank());
  const std::int64_t whole = x.dim(at) * inner;
  std::int64_t done = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Shape shape = x.shape();
    if (drop_dimension) shape.remove_dim(at);
    else shape.set_dim(at, parts[i]);
    if (at == 0) {
      call.set(static_cast<int>(i), x.rows(done, done + parts[i]).reshaped(std::move(shape)));
    } else {
      Walk walk;
      walk.from = done * inner;
      walk.add(outer, whole, parts[i] * inner);
      walk.add(parts[i] * inner, 1, 1);
      copy_along(walk, x, call.alloc(static_cast<int>(i), x.dtype(), shape));
    }
    done += parts[i];
  }
}

Status check_axis(std::int64_t given, int rank) {
  if (given < -rank || given >= rank) return invalid("-input rank(-{}) <= split_dim < input rank ({}), but got {}", rank, rank, given);
  return absl::OkStatus();
}

Status split(Call& call, Any axis, Any x, std::int64_t parts) {
  if (axis->rank() != 0) return invalid("split_dim must be a scalar but has rank {}", axis->rank());
  const std::int64_t given = as_integer(axis.tensor);
  TRY(check_axis(given, x->rank()));
  const int at = static_cast<int>(given < 0 ? given + x->rank() : given);
  if (parts <= 0) return invalid("Number of ways to split should be > 0, but got {}", parts);
  if (x->dim(at) % parts != 0)
    return invalid("Number of ways to split should evenly divide the split dimension, but got split_dim {} (size = {}) and num_split {}", at,
                   x->dim(at), parts);
  cut(call, x.tensor, at, Dims(static_cast<std::size_t>(parts), x->dim(at) / parts), false);
  return absl::OkStatus();
}

/// Sizes of the parts with the one that is -1 filled in.
StatusOr<Dims> part_sizes(const Tensor& sizes, std::int64_t total) {
  Dims parts = as_dims(sizes);
  std::int64_t sum = 0, unknown = -1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != -1) {
      if (__builtin_add_overflow(sum, parts[i], &sum)) return invalid("Total size of splits exceeds the input size.");
      continue;
    }
    if (unknown >= 0) return invalid("There can only be one -1 in the input.");
    unknown = static_cast<std::int64_t>(i);
  }
  if (unknown < 0 ? sum != total : sum > total)
    return invalid(
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the "
        "input along split_dim if not fully specified.  Got: {}",
        sum);
  if (unknown >= 0) parts[static_cast<std::size_t>(unknown)] = total - sum;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] < 0) return invalid("Split size at index {} must be >= 0. Got: {}", i, parts[i]);
  return parts;
}

Status split_v(Call& call, Any x, Any sizes, Any axis, std::int64_t parts) {
  if (axis->size() != 1) return invalid("split_dim_tensor must have exactly one element.");
  if (sizes->rank() != 1 || sizes->size() != parts)
    return invalid("size of the split_tensor must be 1-D and have the same elements as outputs got {} -D and {} elements", sizes->rank(),
                   sizes->size());
  const std::int64_t given = as_integer(axis.tensor);
  TRY(check_axis(given, x->rank()));
  const int at = static_cast<int>(given < 0 ? given + x->rank() : given);
  if (parts == 1 && as_integer(sizes.tensor) != -1 && as_integer(sizes.tensor) != x->dim(at))
    return invalid("If there is only one output, it must have the same size as the input. Input size: {} output size: {}", x->dim(at),
                   as_integer(sizes.tensor));
  TRY_ASSIGN(const Dims cuts, part_sizes(sizes.tensor, x->dim(at)));
  cut(call, x.tensor, at, cuts, false);
  return absl::OkStatus();
}

Status unpack(Call& call, Any x, std::int64_t parts, std::int64_t axis) {
  if (axis < -x->rank() || axis >= x->rank()) return invalid("axis = {} not in [{}, {})", axis, -x->rank(), x->rank());
  const int at = static_cast<int>(axis < 0 ? axis + x->rank() : axis);
  if (x->dim(at) != parts) return invalid("Input shape axis {} must equal {}, got shape {}", at, parts, x->shape());
  cut(call, x.tensor, at, Dims(static_cast<std::size_t>(parts), 1), true);
  return absl::OkStatus();
}

}  // namespace

void add_split(Registry& ops) {
  const DTypes cuttable = dtypes::all() + dtypes::float8();
  const ForTypes types{"T", cuttable + dtypes::int4() + DTypes{DType::qu8}};
  add_for(ops, "Split", {types}, [](Call& call, Any axis, Any x, Attr<"num_split", std::int64_t> n) { return split(call, axis, x, n); });
  add_for(ops, "SplitV", {types},
          [](Call& call, Any x, Any sizes, Any axis, Attr<"num_split", std::int64_t> n) { return split_v(call, x, sizes, axis, n); });
  add_for(ops, "Unpack", {{"T", cuttable}},
          [](Call& call, Any x, Attr<"num", std::int64_t> n, Attr<"axis", std::int64_t> axis) { return unpack(call, x, n, axis); });
}

}  // namespace troupe
