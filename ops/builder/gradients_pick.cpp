// Gradients of ops that pick and gather rows; those of a table's rows stay rows.
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/gradients.hpp>

namespace troupe::build {
namespace {

/// What came back for the picked rows, as rows of a table of this shape.
IndexedSlices rows_of(const Out& dy, const Out& indices, const Out& dense_shape) {
  const Out count = expand_dims(size_of(indices, dense_shape.dtype()), 0);
  const Out inner = strided_slice(dense_shape, {1}, {std::numeric_limits<std::int32_t>::max()});
  return {reshape(dy, concat({count, inner}, 0)), reshape(indices, {-1}), dense_shape};
}

/// The shape of what a handle holds.
Out held_shape(Backward& g) {
  const auto& source = g.b.made(g.x().node);
  const auto shape = Binding(source.def, *source.op, source.signature).attr<PartialShape>("shape");
  if (source.def.op() == "VarHandleOp" && shape.ok() && shape->fully_known())
    return g.b.constant(std::vector<std::int32_t>(shape->dims().begin(), shape->dims().end()));
  return g.b.op("VariableShape", {g.x()});
}

void picked_elsewhere(Backward& g, int axis) {
  const int rank = g.x().rank(), picked = g.x(1).rank();
  if (rank < 0 || picked < 0) return g.b.fail(unimplemented("The gradient of '{}' along axis {} needs ranks that are known", g.op.name(), axis));
  // The picked dimensions become one, in front; its rows are summed and it goes back to its place.
  const Out sizes = shape_of(g.x()), indices = reshape(g.x(1), {-1});
  std::vector<Out> flat;
  if (axis > 0) flat.push_back(slice(sizes, {0}, {axis}));
  flat.push_back(shape_of(indices));
  if (axis + 1 < rank) flat.push_back(slice(sizes, {axis + 1}, {-1}));
  std::vector<std::int32_t> forth{axis}, back;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) forth.push_back(i);
    back.push_back(i < axis ? i + 1 : (i == axis ? 0 : i));
  }
  const Out rows = transpose(reshape(g.dy(), flat.size() == 1 ? flat[0] : concat(flat, 0)), forth);
  g.give(0, transpose(Out(g.b.op("UnsortedSegmentSum", {rows, indices, element(sizes, axis)})), back));
}

void gathered(Backward& g) {
  const auto& made = g.b.made(g.op.node);
  int axis = 0;
  if (g.inputs() > 2) {
    const Tensor& said = g.b.made(g.x(2).node).value;
    if (!said.valid()) return g.b.fail(unimplemented("The gradient of '{}' needs a constant axis", g.op.name()));
    axis = static_cast<int>(said.dtype() == DType::i64 ? said.item<std::int64_t>() : said.item<std::int32_t>());
  }
  if (made.def.attr().contains("batch_dims") && g.attr<std::int64_t>("batch_dims") != 0)
    return g.b.fail(unimplemented("The gradient of '{}' with batch dimensions is not built", g.op.name()));
  if (axis < 0 && g.x().rank() >= 0) axis += g.x().rank();
  if (axis != 0) return picked_elsewhere(g, axis);
  g.give(0, rows_of(g.dy(), g.x(1), shape_of(g.x())));
}

void segments(Backward& g) {
  // Rows with a negative segment went nowhere.
  const Out ids = g.x(1), rows = gather(g.dy(), maximum(ids, 0));
  Out there = greater_equal(ids, 0);
  if (rows.rank() < 0 || ids.rank() < 0) return g.b.fail(unimplemented("The gradient of '{}' needs ranks that are known", g.op.name()));
  for (int i = ids.rank(); i < rows.rank(); ++i) there = expand_dims(there, -1);
  g.give(0, where(there, rows, zeros_like(rows)));
}

void stitched(Backward& g) {
  const int count = g.inputs() / 2;
  const Out dy = g.dy();
  for (int i = 0; i < count; ++i) g.give(count + i, gather(dy, g.x(i)));
}

void partitioned(Backward& g) {
  const Out partitions = g.x(1);
  const Out sizes = shape_of(partitions), places = reshape(range(g.b.constant(0), size_of(partitions), g.b.constant(1)), sizes);
  const auto count = g.attr<std::int64_t>("num_partitions");
  const Op where_from = g.b.op("DynamicPartition", {places, partitions}, {{"num_partitions", count}});
  std::vector<Out> indices, values;
  for (int i = 0; i < count && where_from.valid(); ++i) {
    indices.push_back(where_from[i]);
    values.push_back(g.dy(i));
  }
  g.give(0, reshape(Out(g.b.op("DynamicStitch", {indices, values})), shape_of(g.x())));
}

}  // namespace

void add_pick_gradients(GradientTable& t) {
  t["Gather"] = t["GatherV2"] = gathered;
  t["ResourceGather"] = [](Backward& g) { g.give(0, rows_of(g.dy(), g.x(1), held_shape(g))); };
  t["GatherNd"] = [](Backward& g) { g.give(0, g.b.op("ScatterNd", {g.x(1), g.dy(), shape_of(g.x(), g.x(1).dtype())})); };
  t["ScatterNd"] = [](Backward& g) { g.give(1, g.b.op("GatherNd", {g.dy(), g.x(0)})); };
  t["UnsortedSegmentSum"] = segments;
  t["SegmentSum"] = [](Backward& g) { g.give(0, gather(g.dy(), g.x(1))); };
  t["DynamicStitch"] = t["ParallelDynamicStitch"] = stitched;
  t["DynamicPartition"] = partitioned;
}

}  // namespace troupe::build
