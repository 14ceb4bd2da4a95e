// Strided slices: reading, their gradient, and assignment to them.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/strided.hpp>
#include <troupe/ops/array/variables.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

#define STRIDED_MASKS                                                                                                                      \
  Attr<"begin_mask", std::int64_t> begin_mask, Attr<"end_mask", std::int64_t> end_mask, Attr<"ellipsis_mask", std::int64_t> ellipsis_mask, \
      Attr<"new_axis_mask", std::int64_t> new_axis_mask, Attr<"shrink_axis_mask", std::int64_t> shrink_axis_mask
#define STRIDED_MASKS_GIVEN \
  StridedMasks { begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask }

Status read(Call& call, const Tensor& x, const Strided& slice) {
  if (x.rank() == 0) {
    call.set(0, x.reshaped(slice.result));
  } else if (slice.is_rows(x.shape())) {
    call.set(0, x.rows(slice.begin[0], slice.begin[0] + slice.size[0]).reshaped(slice.result));
  } else {
    copy_along(slice.reading(x.shape()), x, call.alloc(0, x.dtype(), slice.result));
  }
  return absl::OkStatus();
}

/// The walk that writes a contiguous value to the places of a slice.
Walk writing(const Strided& slice, const Shape& shape) {
  Walk walk = slice.reading(shape);
  std::swap(walk.from, walk.to);
  std::swap(walk.from_step, walk.to_step);
  return walk;
}

Status gradient(Call& call, Any shape, Any begin, Any end, Any strides, Any dy, const StridedMasks& masks) {
  if (shape->rank() != 1) return invalid("shape must be 1-D, got shape.shape = {}", shape->shape());
  TRY_ASSIGN(const Shape whole, make_shape(shape.tensor));
  TRY_ASSIGN(const Strided slice, Strided::of(whole, begin.tensor, end.tensor, strides.tensor, masks));
  if (dy->shape() != slice.result) return invalid("shape of dy was {} instead of {}", dy->shape(), slice.result);
  call.set(0, Tensor::zeros(dy->dtype(), whole));
  copy_along(writing(slice, whole), dy.tensor, call.out(0));
  return absl::OkStatus();
}

/// The walk with a value that may have fewer or shorter dimensions than the slice; false when it does not broadcast.
bool spread_value(const Strided& slice, const Shape& value, Walk& walk) {
  const int extra = value.rank() - slice.result.rank();
  for (int d = 0; d < extra; ++d)
    if (value.dim(d) != 1) return false;
  const Dims value_steps = steps_of(value);
  std::fill(walk.from_step.begin(), walk.from_step.end(), 0);
  for (int d = std::max(-extra, 0); d < slice.result.rank(); ++d) {
    const auto v = static_cast<std::size_t>(d + extra);
    if (value.dim(d + extra) == 1) continue;
    if (value.dim(d + extra) != slice.result.dim(d)) return false;
    const std::int64_t from = slice.kept[static_cast<std::size_t>(d)];
    if (from >= 0) walk.from_step[static_cast<std::size_t>(from)] = value_steps[v];
  }
  return true;
}

/// Calls write(walk) when there is something to assign.
template <class Write>
Status assign(const Shape& whole, const Tensor& value, Any begin, Any end, Any strides, const StridedMasks& masks, Write&& write) {
  TRY_ASSIGN(const Strided slice, Strided::of(whole, begin.tensor, end.tensor, strides.tensor, masks));
  if (slice.result.elements() == 0) return absl::OkStatus();
  Walk walk = writing(slice, whole);
  if (!spread_value(slice, value.shape(), walk)) return invalid("Cannot broadcast input shape {} into final shape {}", value.shape(), slice.result);
  write(walk);
  return absl::OkStatus();
}

Status assign_to_variable(Call& call, AnyVar ref, Any begin, Any end, Any strides, Any value, const StridedMasks& masks) {
  TRY(check_readable(call, ref));
  const DType held = ref->snapshot().dtype();
  if (held != value->dtype()) return invalid("l-value dtype {} does not match r-value dtype {}", name_of(held), name_of(value->dtype()));
  return assign(ref->snapshot().shape(), value.tensor, begin, end, strides, masks,
                [&](const Walk& walk) { copy_along(walk, value.tensor, ref->writable()); });
}

Status update(Call& call, Any x, Any begin, Any end, Any strides, Any value, const StridedMasks& masks) {
  if (std::ranges::count(dtypes::quantized(), x->dtype()) > 0) return invalid("Unsupported data type: {}", name_of(x->dtype()));
  call.set(0, x->unique() ? x.tensor : x->copy());
  return assign(x->shape(), value.tensor, begin, end, strides, masks, [&](const Walk& walk) { copy_along(walk, value.tensor, call.out(0)); });
}

}  // namespace

void add_strided_slice(Registry& ops) {
  const ForTypes types{"T", dtypes::all() + dtypes::quantized() + dtypes::float8()};
  add_for(ops, "StridedSlice", {types}, [](Call& call, Any x, Any begin, Any end, Any strides, STRIDED_MASKS) -> Status {
    TRY_ASSIGN(const Strided slice, Strided::of(x->shape(), begin.tensor, end.tensor, strides.tensor, STRIDED_MASKS_GIVEN));
    return read(call, x.tensor, slice);
  });
  add_for(ops, "StridedSliceGrad", {types}, [](Call& call, Any shape, Any begin, Any end, Any strides, Any dy, STRIDED_MASKS) {
    return gradient(call, shape, begin, end, strides, dy, STRIDED_MASKS_GIVEN);
  });
  add_for(ops, {"StridedSliceAssign", "ResourceStridedSliceAssign"}, {types},
          [](Call& call, AnyVar ref, Any begin, Any end, Any strides, Any value, STRIDED_MASKS) {
            return assign_to_variable(call, ref, begin, end, strides, value, STRIDED_MASKS_GIVEN);
          });
  add_for(ops, "TensorStridedSliceUpdate", {types}, [](Call& call, Any x, Any begin, Any end, Any strides, Any value, STRIDED_MASKS) {
    return update(call, x, begin, end, strides, value, STRIDED_MASKS_GIVEN);
  });
}

}  // namespace troupe
