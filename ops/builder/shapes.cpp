// What all shape functions share.
#include <troupe/ops/builder/shapes.hpp>

#include <algorithm>

namespace troupe::build {
namespace {

Sizes sizes_of(const PartialShape& shape) {
  if (shape.unknown_rank()) return std::nullopt;
  return std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end());
}

Sizes integers_of(const Tensor& value) {
  if (value.rank() > 1) return std::nullopt;
  if (value.dtype() == DType::i32) return std::vector<std::int64_t>(value.values<std::int32_t>().begin(), value.values<std::int32_t>().end());
  if (value.dtype() == DType::i64) return std::vector<std::int64_t>(value.values<std::int64_t>().begin(), value.values<std::int64_t>().end());
  return std::nullopt;
}

const ShapeTable& shape_table() {
  static const ShapeTable table = [] {
    ShapeTable t;
    add_math_shapes(t);
    add_array_shapes(t);
    add_nn_shapes(t);
    add_state_shapes(t);
    return t;
  }();
  return table;
}

Status explain(const Status& status, const Builder::Made& made) {
  std::string shapes;
  for (const Out& in : made.inputs) shapes += (shapes.empty() ? "" : ", ") + to_string(in.shape());
  return invalid("{} for '{}' (op: '{}') with input shapes: {}.", text_of(status), made.def.name(), made.def.op(), shapes);
}

/// One number of a shape: a constant, or a single element cut out of another shape.
std::int64_t number_said_by(const Builder& b, const Out& out) {
  const auto& made = b.made(out.node);
  if (made.def.op() == "Const") {
    const Sizes n = integers_of(made.value);
    return n && n->size() == 1 ? (*n)[0] : -1;
  }
  if (made.def.op() == "Prod" || made.def.op() == "Cast" || made.def.op() == "Identity") {
    const Sizes from = made.def.op() == "Prod" ? shape_said_by(b, made.inputs[0]) : Sizes();
    if (made.def.op() != "Prod") return number_said_by(b, made.inputs[0]);
    std::int64_t product = from ? 1 : -1;
    for (std::int64_t d : from ? *from : std::vector<std::int64_t>()) product = d < 0 || product < 0 ? -1 : product * d;
    return product;
  }
  if (made.def.op() != "StridedSlice" || made.def.attr().at("shrink_axis_mask").i() != 1) return -1;
  const Sizes from = shape_said_by(b, made.inputs[0]), begin = shape_said_by(b, made.inputs[1]);
  if (!from || !begin || begin->size() != 1) return -1;
  const std::int64_t at = (*begin)[0] < 0 ? (*begin)[0] + static_cast<std::int64_t>(from->size()) : (*begin)[0];
  return at >= 0 && at < static_cast<std::int64_t>(from->size()) ? (*from)[static_cast<std::size_t>(at)] : -1;
}

}  // namespace

Sizes shape_said_by(const Builder& b, const Out& out) {
  const auto& made = b.made(out.node);
  const std::string& kind = made.def.op();
  if (kind == "Const") return integers_of(made.value);
  if (kind == "Shape") return sizes_of(made.inputs[0].shape());
  if (kind == "Identity" || kind == "Cast") return shape_said_by(b, made.inputs[0]);
  if (kind == "ExpandDims") return std::vector{number_said_by(b, made.inputs[0])};
  if (kind == "Pack") {
    std::vector<std::int64_t> all;
    for (const Out& in : made.inputs) all.push_back(number_said_by(b, in));
    return all;
  }
  if (kind == "ConcatV2") {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i + 1 < made.inputs.size(); ++i) {
      const Sizes part = shape_said_by(b, made.inputs[i]);
      if (!part) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }
  const PartialShape& own = out.shape();  // a vector of known length, with nothing known of its numbers
  if (own.rank() == 1 && own.dim(0) >= 0) return std::vector<std::int64_t>(static_cast<std::size_t>(own.dim(0)), -1);
  return std::nullopt;
}

Sizes ShapeCall::in(int i) const { return i < inputs() ? sizes_of(made_.inputs[static_cast<std::size_t>(i)].shape()) : std::nullopt; }

const Tensor* ShapeCall::value(int i) const {
  const auto& source = builder_.made(made_.inputs[static_cast<std::size_t>(i)].node);
  return source.value.valid() ? &source.value : nullptr;
}

Sizes ShapeCall::numbers(int i) const {
  const Tensor* constant = value(i);
  return constant ? integers_of(*constant) : std::nullopt;
}

Sizes ShapeCall::shape_said_by(int i) const { return build::shape_said_by(builder_, made_.inputs[static_cast<std::size_t>(i)]); }

void ShapeCall::set(int i, const Sizes& sizes) {
  if (sizes && i < static_cast<int>(out_.size())) out_[static_cast<std::size_t>(i)] = PartialShape(std::span<const std::int64_t>(*sizes));
}

StatusOr<std::vector<PartialShape>> infer_shapes(const Builder& builder, const Builder::Made& made) {
  ShapeCall call(builder, made);
  // Loops lead back to nodes that are not there yet.
  for (const Out& in : made.inputs)
    if (in.node >= builder.size() || builder.made(in.node).shapes.empty()) return call.take();
  if (auto found = shape_table().find(made.def.op()); found != shape_table().end())
    if (const Status status = found->second(call); !status.ok()) return explain(status, made);
  return call.take();
}

StatusOr<std::int64_t> merge_dims(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b >= 0 && a != b) return invalid("Dimensions must be equal, but are {} and {}", a, b);
  return std::max(a, b);
}

StatusOr<Sizes> merge_sizes(const Sizes& a, const Sizes& b) {
  if (!a) return b;
  if (!b) return a;
  if (a->size() != b->size()) return invalid("Shapes must be equal rank, but are {} and {}", a->size(), b->size());
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < a->size(); ++i) {
    auto merged = merge_dims((*a)[i], (*b)[i]);
    if (!merged.ok()) return invalid("Dimension {} in both shapes must be equal, but are {} and {}", i, (*a)[i], (*b)[i]);
    out.push_back(*merged);
  }
  return Sizes(out);
}

StatusOr<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b) {
  TRY_ASSIGN(const Sizes merged, merge_sizes(sizes_of(a), sizes_of(b)));
  return merged ? PartialShape(std::span<const std::int64_t>(*merged)) : PartialShape();
}

StatusOr<Sizes> broadcast_sizes(const Sizes& a, const Sizes& b) {
  if (!a || !b) return Sizes();
  const auto& longer = a->size() >= b->size() ? *a : *b;
  const auto& shorter = a->size() >= b->size() ? *b : *a;
  std::vector<std::int64_t> out = longer;
  const std::size_t ahead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const std::int64_t x = longer[ahead + i], y = shorter[i];
    if (x >= 0 && y >= 0 && x != 1 && y != 1 && x != y) return invalid("Dimensions must be equal, but are {} and {}", x, y);
    // An unknown size beside a known one can only be 1 or that; beside 1 it stays unknown.
    out[ahead + i] = x == 1 ? y : (y == 1 || x >= 0 ? x : y);
  }
  return Sizes(out);
}

Status want_rank(const Sizes& sizes, int rank) {
  if (!sizes || static_cast<int>(sizes->size()) == rank) return absl::OkStatus();
  return invalid("Shape must be rank {} but is rank {}", rank, sizes->size());
}

StatusOr<int> axis_of(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return invalid("Axis {} is out of range for a tensor of rank {}", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::string to_text(const Sizes& sizes) { return to_string(sizes ? PartialShape(std::span<const std::int64_t>(*sizes)) : PartialShape()); }

}  // namespace troupe::build
