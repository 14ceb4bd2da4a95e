// Constants, placeholders and tensors filled with one value.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

Status fill(Call& call, Any dims, Any value) {
  if (dims->rank() > 1) return invalid("dims must represent a vector, got shape {}", dims->shape());
  if (value->rank() > 1 || value->size() != 1) return invalid("value must represent a scalar, got shape {}", value->shape());
  TRY_ASSIGN(const Shape shape, make_shape(dims.tensor));
  fill_with(value.tensor, call.alloc(0, value->dtype(), shape));
  return absl::OkStatus();
}

Status not_fed(Call& call, Attr<"dtype", DType> dtype, Attr<"shape", PartialShape> shape) {
  const std::string of_shape = shape->rank() > 0 ? fmt::format(" and shape {}", *shape) : "";
  return invalid("You must feed a value for placeholder tensor '{}' with dtype {}{}", call.node().name, name_of(dtype), of_shape);
}

void zeros(Call& call, Any x) { call.set(0, Tensor::zeros(x->dtype(), x->shape())); }

}  // namespace

void add_constants(Registry& ops) {
  ops.add("Const", [](Call& call, Attr<"value", Tensor> value, Attr<"dtype", DType> dtype) -> Status {
    if (value->dtype() != dtype) return invalid("Type mismatch between value ({}) and dtype ({})", name_of(value->dtype()), name_of(dtype));
    call.set(0, *value);
    return absl::OkStatus();
  });
  ops.add({"Placeholder", "PlaceholderV2"},
          [](Call& call, Attr<"dtype", DType> dtype, Attr<"shape", PartialShape> shape) { return not_fed(call, dtype, shape); });
  // What a branch not taken would have given: nobody reads it.
  ops.add("FakeParam", [](Call& call, Attr<"dtype", DType> dtype, Attr<"shape", PartialShape> shape) {
    Shape known;
    for (std::int64_t d : shape->dims()) known.add_dim(std::max<std::int64_t>(d, 0));
    call.set(0, Tensor::zeros(dtype, std::move(known)));
  });
  add_for(ops, "Fill", {{"T", dtypes::all() + dtypes::quantized() + dtypes::quantized16() + dtypes::int4()}},
          [](Call& call, Any dims, Any value) { return fill(call, dims, value); });
  add_for(ops, "ZerosLike", {{"T", dtypes::plain_strings()}}, [](Call& call, Any x) { zeros(call, x); });
  ops.add("OnesLike", joined<numbers, types<bool>>{},
          []<class T>(Call& call, In<T> x) { std::fill_n(call.alloc_over<T>(0, x.index, x.shape()), x.size(), static_cast<T>(1)); });
  add_for(ops, "Empty", {{"dtype", dtypes::plain_strings()}}, [](Call& call, Any sizes, Attr<"dtype", DType> dtype) -> Status {
    if (sizes->rank() != 1) return invalid("shape must be a vector of int32, got shape {}", sizes->shape());
    TRY_ASSIGN(Shape shape, make_shape(sizes.tensor));
    // Zeros even where nobody asked for them: what was in this memory before is no business of the graph's.
    call.set(0, Tensor::zeros(dtype, std::move(shape)));
    return absl::OkStatus();
  });
}

}  // namespace troupe
