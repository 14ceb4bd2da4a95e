// Building of ops that shape, cut, join and pick.
#include <troupe/ops/builder/array.hpp>

#include <numeric>

namespace troupe::build {
namespace {

/// An op whose last inputs are constants named below it.
struct Under {
  Builder& b;
  Builder::Scope scope;
  Under(const Out& x, const Name& name, const char* usual) : b(*x.builder), scope(b.scope(name.empty() ? usual : name)) {}
  Op op(const char* kind, const std::vector<In>& inputs, const Attrs& attrs = {}) { return b.op(kind, inputs, attrs, b.scope_name()); }
};

bool any_empty(const std::vector<Out>& xs) {
  for (const Out& x : xs)
    if (!x.valid()) return true;
  return xs.empty();
}

Tensor matrix(const std::vector<std::pair<std::int32_t, std::int32_t>>& rows) {
  std::vector<std::int32_t> flat;
  for (auto [a, b] : rows) flat.insert(flat.end(), {a, b});
  return Tensor::of<std::int32_t>(Shape{static_cast<std::int64_t>(rows.size()), 2}, flat);
}

}  // namespace

Out identity(const Out& x, const Name& name) { return unary("Identity", x, name); }
Out stop_gradient(const Out& x, const Name& name) { return unary("StopGradient", x, name); }
Out zeros_like(const Out& x, const Name& name) { return unary("ZerosLike", x, name.empty() ? "zeros_like" : name); }
Out ones_like(const Out& x, const Name& name) { return unary("OnesLike", x, name.empty() ? "ones_like" : name); }

Out shape_of(const Out& x, DType type, const Name& name) {
  if (!x.valid()) return {};
  const Name n = name.empty() ? "Shape" : name;
  if (!x.shape().fully_known()) return x.builder->op("Shape", {x}, {{"out_type", type}}, n);
  const auto dims = x.shape().dims();
  if (type == DType::i64) return x.builder->constant(std::vector<std::int64_t>(dims.begin(), dims.end()), n);
  return x.builder->constant(std::vector<std::int32_t>(dims.begin(), dims.end()), n);
}

Out rank_of(const Out& x, const Name& name) {
  if (!x.valid()) return {};
  const Name n = name.empty() ? "Rank" : name;
  return x.rank() >= 0 ? x.builder->constant(static_cast<std::int32_t>(x.rank()), n) : Out(x.builder->op("Rank", {x}, {}, n));
}

Out size_of(const Out& x, DType type, const Name& name) {
  if (!x.valid()) return {};
  const Name n = name.empty() ? "Size" : name;
  if (const auto known = x.shape().known()) return x.builder->number(static_cast<double>(known->elements()), type, n);
  return x.builder->op("Size", {x}, {{"out_type", type}}, n);
}

Out fill(const Out& sizes, const Out& value, const Name& name) {
  return sizes.valid() ? Out(sizes.builder->op("Fill", {sizes, value}, {}, name)) : Out{};
}

Out range(const Out& start, const Out& limit, const Out& delta, const Name& name) {
  return start.valid() ? Out(start.builder->op("Range", {start, limit, delta}, {}, name.empty() ? "range" : name)) : Out{};
}

Out one_hot(const Out& indices, int depth, DType type, const Name& name) {
  if (!indices.valid()) return {};
  Under u(indices, name, "one_hot");
  const Out d = u.b.constant(depth, "depth"), on = u.b.number(1, type, "on_value"), off = u.b.number(0, type, "off_value");
  return u.op("OneHot", {indices, d, on, off});
}

Out reshape(const Out& x, const std::vector<std::int32_t>& sizes, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "Reshape");
  return u.op("Reshape", {x, u.b.constant(sizes, "shape")});
}

Out reshape(const Out& x, const Out& sizes, const Name& name) { return x.valid() ? Out(x.builder->op("Reshape", {x, sizes}, {}, name)) : Out{}; }

Out expand_dims(const Out& x, int axis, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "ExpandDims");
  return u.op("ExpandDims", {x, u.b.constant(axis, "dim")});
}

Out squeeze(const Out& x, const std::vector<std::int64_t>& axes, const Name& name) {
  return x.valid() ? Out(x.builder->op("Squeeze", {x}, {{"squeeze_dims", axes}}, name)) : Out{};
}

Out transpose(const Out& x, const std::vector<std::int32_t>& order, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "transpose");
  std::vector<std::int32_t> axes = order;
  if (axes.empty() && x.rank() < 0) {
    u.b.fail(invalid("transpose of '{}' needs an order, its rank is not known", x.name()));
    return {};
  }
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(x.rank()));
    std::iota(axes.rbegin(), axes.rend(), 0);
  }
  return u.op("Transpose", {x, u.b.constant(axes, "perm")});
}

Out tile(const Out& x, const std::vector<std::int32_t>& times, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "Tile");
  return u.op("Tile", {x, u.b.constant(times, "multiples")});
}

Out pad(const Out& x, const std::vector<std::pair<std::int32_t, std::int32_t>>& by, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "Pad");
  return u.op("Pad", {x, u.b.constant(matrix(by), "paddings")});
}

Out concat(const std::vector<Out>& xs, int axis, const Name& name) {
  if (any_empty(xs)) return {};
  Under u(xs[0], name, "concat");
  return u.op("ConcatV2", {xs, u.b.constant(axis, "axis")});
}

Out stack(const std::vector<Out>& xs, int axis, const Name& name) {
  if (any_empty(xs)) return {};
  return xs[0].builder->op("Pack", {xs}, {{"axis", axis}}, name.empty() ? "stack" : name);
}

namespace {
std::vector<Out> all_of(const Op& op, int count) {
  std::vector<Out> outs(static_cast<std::size_t>(count));
  for (int i = 0; i < count && op.valid(); ++i) outs[static_cast<std::size_t>(i)] = op[i];
  return outs;
}
}  // namespace

std::vector<Out> unstack(const Out& x, int count, int axis, const Name& name) {
  if (!x.valid()) return std::vector<Out>(static_cast<std::size_t>(count));
  return all_of(x.builder->op("Unpack", {x}, {{"num", count}, {"axis", axis}}, name.empty() ? "unstack" : name), count);
}

std::vector<Out> split(const Out& x, int count, int axis, const Name& name) {
  if (!x.valid()) return std::vector<Out>(static_cast<std::size_t>(count));
  Under u(x, name, "split");
  return all_of(u.op("Split", {u.b.constant(axis, "split_dim"), x}, {{"num_split", count}}), count);
}

Out slice(const Out& x, const std::vector<std::int32_t>& begin, const std::vector<std::int32_t>& size, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "Slice");
  const Out from = u.b.constant(begin, "begin");
  return u.op("Slice", {x, from, u.b.constant(size, "size")});
}

Out strided_slice(const Out& x, const std::vector<std::int32_t>& begin, const std::vector<std::int32_t>& end,
                  const std::vector<std::int32_t>& strides, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "strided_slice");
  const Out from = u.b.constant(begin, "stack"), to = u.b.constant(end, "stack_1");
  const Out by = u.b.constant(strides.empty() ? std::vector<std::int32_t>(begin.size(), 1) : strides, "stack_2");
  return u.op("StridedSlice", {x, from, to, by});
}

Out element(const Out& x, int i, const Name& name) {
  if (!x.valid()) return {};
  Under u(x, name, "strided_slice");
  const Out from = u.b.constant(std::vector{i}, "stack"), to = u.b.constant(std::vector{i + 1}, "stack_1");
  return u.op("StridedSlice", {x, from, to, u.b.constant(std::vector{1}, "stack_2")}, {{"shrink_axis_mask", 1}});
}

Out gather(const Out& params, const Out& indices, int axis, const Name& name) {
  if (!params.valid()) return {};
  Under u(params, name, "GatherV2");
  return u.op("GatherV2", {params, indices, u.b.constant(axis, "axis")});
}

}  // namespace troupe::build
