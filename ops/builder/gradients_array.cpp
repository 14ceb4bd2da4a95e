// Gradients of ops that shape, cut and join.
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/gradients.hpp>

namespace troupe::build {
namespace {

void back_to_shape(Backward& g) { g.give(0, reshape(g.dy(), shape_of(g.x()))); }

void pass(Backward& g) { g.give(0, g.raw_dy()); }

void transposed(Backward& g) {
  const Tensor& order = g.b.made(g.x(1).node).value;
  if (order.valid() && order.dtype() == DType::i32) {
    const auto axes = order.values<std::int32_t>();
    std::vector<std::int32_t> back(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      back[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + static_cast<int>(axes.size()) : axes[i])] = static_cast<std::int32_t>(i);
    return g.give(0, transpose(g.dy(), back));
  }
  g.give(0, g.b.op("Transpose", {g.dy(), g.b.op("InvertPermutation", {g.x(1)})}));
}

void joined(Backward& g) {
  const int count = g.inputs() - 1;
  std::vector<Out> shapes;
  for (int i = 0; i < count; ++i) shapes.push_back(shape_of(g.x(i)));
  if (count == 1) return g.give(0, g.dy());
  const Op offsets = g.b.op("ConcatOffset", {cast(g.x(count), DType::i32), shapes});
  const Out dy = g.dy();
  for (int i = 0; i < count; ++i) g.give(i, g.b.op("Slice", {dy, offsets.valid() ? offsets[i] : Out{}, shapes[static_cast<std::size_t>(i)]}));
}

std::vector<Out> all_dy(Backward& g) {
  std::vector<Out> out;
  for (int i = 0; i < g.op.outputs(); ++i) out.push_back(g.dy(i));
  return out;
}

void cut(Backward& g) {
  const DType index = g.x(1).dtype();
  const Out before = g.x(1), after = shape_of(g.x(), index) - shape_of(g.y(), index) - before;
  g.give(0, g.b.op("Pad", {g.dy(), stack({before, after}, 1)}));
}

void cut_with_strides(Backward& g) {
  g.give(0, g.b.op("StridedSliceGrad", {shape_of(g.x(), g.x(1).dtype()), g.x(1), g.x(2), g.x(3), g.dy()},
                   g.attrs({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"})));
}

void tiled(Backward& g) {
  // Each dimension becomes two, times and size; the sum goes over the times.
  const Out pairs = reshape(stack({g.x(1), shape_of(g.x(), g.x(1).dtype())}, 1), {-1});
  const Out axes = range(g.b.constant(0), g.b.op("Size", {pairs}), g.b.constant(2));
  const Out sum = g.b.op("Sum", {reshape(g.dy(), pairs), axes});
  g.give(0, reshape(sum, shape_of(g.x())));
}

void padded(Backward& g) {
  const DType index = g.x(1).dtype();
  const Out one = index == DType::i64 ? g.b.constant(std::vector<std::int64_t>{1}) : g.b.constant(std::vector<std::int32_t>{1});
  const Out zeros = index == DType::i64 ? g.b.constant(std::vector<std::int64_t>{0, 0}) : g.b.constant(std::vector<std::int32_t>{0, 0});
  const Out rows = concat({expand_dims(cast(rank_of(g.x()), index), 0), one}, 0);
  const Out before = reshape(Out(g.b.op("Slice", {g.x(1), zeros, rows})), {-1});
  g.give(0, g.b.op("Slice", {g.dy(), before, shape_of(g.x(), index)}));
  if (g.inputs() > 2) g.give(2, sum(g.dy()) - sum(Out(g.b.op("Slice", {g.dy(), before, shape_of(g.x(), index)}))));
}

void stretched(Backward& g) {
  const DType index = g.x(1).dtype();
  const Out axes = g.b.op("BroadcastGradientArgs", {shape_of(g.x(), index), shape_of(g.y(), index)});
  g.give(0, reshape(Out(g.b.op("Sum", {g.dy(), axes})), shape_of(g.x())));
}

}  // namespace

void add_array_gradients(GradientTable& t) {
  for (const char* op : {"Identity", "ReadVariableOp", "Snapshot", "CheckNumerics"}) t[op] = pass;
  for (const char* op : {"Reshape", "ExpandDims", "Squeeze"}) t[op] = back_to_shape;
  t["Transpose"] = transposed;
  t["ConcatV2"] = joined;
  t["Split"] = [](Backward& g) { g.give(1, g.b.op("ConcatV2", {all_dy(g), g.x(0)})); };
  t["SplitV"] = [](Backward& g) { g.give(0, g.b.op("ConcatV2", {all_dy(g), g.x(2)})); };
  t["Pack"] = [](Backward& g) {
    const auto parts = unstack(g.dy(), g.inputs(), static_cast<int>(g.attr<std::int64_t>("axis")));
    for (int i = 0; i < g.inputs(); ++i) g.give(i, parts[static_cast<std::size_t>(i)]);
  };
  t["Unpack"] = [](Backward& g) { g.give(0, stack(all_dy(g), static_cast<int>(g.attr<std::int64_t>("axis")))); };
  t["Slice"] = cut;
  t["StridedSlice"] = cut_with_strides;
  t["Tile"] = tiled;
  t["Pad"] = t["PadV2"] = padded;
  t["MirrorPad"] = [](Backward& g) { g.give(0, g.b.op("MirrorPadGrad", {g.dy(), g.x(1)}, g.attrs({"mode"}))); };
  t["BroadcastTo"] = stretched;
  t["Fill"] = [](Backward& g) { g.give(1, sum(g.dy())); };
  t["Reverse"] = t["ReverseV2"] = [](Backward& g) { g.give(0, g.b.op(g.op.kind(), {g.dy(), g.x(1)})); };
  for (const char* op : {"StopGradient", "Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "OneHot", "Const", "VarHandleOp", "Placeholder",
                         "ConcatOffset", "InvertPermutation", "VariableShape", "VarIsInitializedOp"})
    t[op] = nullptr;
}

}  // namespace troupe::build
