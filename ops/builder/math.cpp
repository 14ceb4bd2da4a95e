// Math ops that take more than a line.
#include <troupe/ops/builder/math.hpp>

#include <troupe/ops/builder/array.hpp>

#include <numeric>

namespace troupe::build {

Out unary(const char* kind, const Out& x, const Name& name) { return x.valid() ? Out(x.builder->op(kind, {x}, {}, name)) : Out{}; }

Out binary(const char* kind, const char* name, const Operand& x, const Operand& y, const Name& given) {
  const Out& typed = x.is_number ? y.out : x.out;
  if (!typed.valid()) return {};
  Builder& b = *typed.builder;
  auto scope = b.scope(given.empty() ? name : given);
  const Out left = x.is_number ? b.number(x.number, typed.dtype(), "x") : x.out;
  const Out right = y.is_number ? b.number(y.number, typed.dtype(), "y") : y.out;
  return b.op(kind, {left, right}, {}, b.scope_name());
}

Out cast(const Out& x, DType to, const Name& name) {
  if (!x.valid() || x.dtype() == to) return x;
  return x.builder->op("Cast", {x}, {{"DstT", to}}, name);
}

Out add_n(const std::vector<Out>& xs, const Name& name) {
  if (xs.empty() || !xs[0].valid()) return {};
  return xs.size() == 1 ? xs[0] : Out(xs[0].builder->op("AddN", {xs}, {}, name));
}

Out where(const Out& condition, const Out& yes, const Out& no, const Name& name) {
  return condition.valid() ? Out(condition.builder->op("SelectV2", {condition, yes, no}, {}, name)) : Out{};
}

Out matmul(const Out& a, const Out& b, Transposed transposed, const Name& name) {
  if (!a.valid()) return {};
  if (a.rank() > 2 || b.rank() > 2)
    return a.builder->op("BatchMatMulV2", {a, b}, {{"adj_x", transposed.a}, {"adj_y", transposed.b}}, name.empty() ? "MatMul" : name);
  return a.builder->op("MatMul", {a, b}, {{"transpose_a", transposed.a}, {"transpose_b", transposed.b}}, name);
}

Out reduce(const char* kind, const Out& x, const Axes& axes, const Name& name) {
  if (!x.valid()) return {};
  Builder& b = *x.builder;
  const Name full = b.unique_name(name.empty() ? kind : name);
  Out along;
  if (!axes.axes.empty()) {
    along = b.constant(axes.axes, full + "/reduction_indices/");
  } else if (x.rank() >= 0) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(x.rank()));
    std::iota(all.begin(), all.end(), 0);
    along = b.constant(all);
  } else {
    along = range(b.constant(0), rank_of(x), b.constant(1));
  }
  return b.op(kind, {x, along}, {{"keep_dims", axes.keep_dims}}, full + "/");
}

Out argmax(const Out& x, int axis, const Name& name) {
  if (!x.valid()) return {};
  auto scope = x.builder->scope(name.empty() ? "ArgMax" : name);
  return x.builder->op("ArgMax", {x, x.builder->constant(axis, "dimension")}, {}, x.builder->scope_name());
}

}  // namespace troupe::build
