// Shapes of constants, placeholders and what variables hold.
#include <troupe/ops/builder/shapes.hpp>

namespace troupe::build {
namespace {

using Many = std::vector<std::int64_t>;

Sizes sizes_of(const PartialShape& shape) {
  if (shape.unknown_rank()) return std::nullopt;
  return Many(shape.dims().begin(), shape.dims().end());
}

/// The shape that the node which made a handle says of what it holds.
Sizes held_by(const Out& handle) {
  const auto& source = handle.builder->made(handle.node);
  auto found = source.def.attr().find("shape");
  if (source.def.op() != "VarHandleOp" || found == source.def.attr().end()) return std::nullopt;
  return sizes_of(Binding(source.def, *source.op, source.signature).attr<PartialShape>("shape").value_or(PartialShape()));
}

Status by_attribute(ShapeCall& c) {
  c.set(0, sizes_of(c.attr<PartialShape>("shape")));
  return absl::OkStatus();
}

Status scalar(ShapeCall& c) {
  c.set(0, Many{});
  return absl::OkStatus();
}

Status assigned(ShapeCall& c) {
  TRY(merge_sizes(held_by(c.made().inputs[0]), c.in(1)).status());
  return absl::OkStatus();
}

Status read(ShapeCall& c) {
  c.set(0, held_by(c.made().inputs[0]));
  return absl::OkStatus();
}

Status gather_rows(ShapeCall& c) {
  const Sizes held = held_by(c.made().inputs[0]), indices = c.in(1);
  if (!held || !indices) return absl::OkStatus();
  if (held->empty()) return invalid("Shape must be at least rank 1 but is rank 0");
  Many out = *indices;
  out.insert(out.end(), held->begin() + 1, held->end());
  c.set(0, out);
  return absl::OkStatus();
}

Status assigned_reference(ShapeCall& c) {
  if (c.made().def.op() == "Assign" && !c.attr<bool>("validate_shape")) {
    c.set(0, c.in(1));
    return absl::OkStatus();
  }
  TRY_ASSIGN(const Sizes merged, merge_sizes(c.in(0), c.in(1)));
  c.set(0, merged);
  return absl::OkStatus();
}

Status default_placeholder(ShapeCall& c) {
  const auto shape = sizes_of(c.attr<PartialShape>("shape"));
  TRY(merge_sizes(shape, c.in(0)).status());
  c.set(0, shape);
  return absl::OkStatus();
}

}  // namespace

void add_state_shapes(ShapeTable& table) {
  table["Const"] = [](ShapeCall& c) {
    const auto& dims = c.made().value.shape().dims();
    c.set(0, Many(dims.begin(), dims.end()));
    return absl::OkStatus();
  };
  for (const char* op : {"Placeholder", "VariableV2", "TemporaryVariable"}) table[op] = by_attribute;
  table["PlaceholderWithDefault"] = default_placeholder;
  for (const char* op : {"VarHandleOp", "VarIsInitializedOp", "IsVariableInitialized", "QueueSizeV2"}) table[op] = scalar;
  table["ReadVariableOp"] = read;
  for (const char* op : {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"}) table[op] = assigned;
  for (const char* op : {"Assign", "AssignAdd", "AssignSub"}) table[op] = assigned_reference;
  table["ResourceGather"] = gather_rows;
}

}  // namespace troupe::build
