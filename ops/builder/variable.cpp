// Making and using of variables.
#include <troupe/ops/builder/variable.hpp>

#include <cmath>
#include <optional>

namespace troupe::build {
namespace {

Out dense_shape(Builder& b, const Shape& shape) {
  std::vector<std::int32_t> sizes(shape.begin(), shape.end());
  return b.constant(sizes, "shape");
}

/// A random op scaled by `factor`, under the name of its kind.
Initial scaled(const char* name, const char* kind, Shape shape, double factor, std::int64_t seed, std::int64_t seed2, DType type) {
  return [=](Builder& b) -> Out {
    auto scope = b.scope(name);
    const Out raw = b.op(kind, {dense_shape(b, shape)}, {{"dtype", type}, {"seed", seed}, {"seed2", seed2}});
    const Out product = b.op("Mul", {raw, b.number(factor, type, "stddev")}, {}, "mul");
    return b.op("AddV2", {product, b.number(0, type, "mean")}, {}, b.scope_name());
  };
}

Variable make_resource(Builder& b, const std::string& name, const Out& initial, const VariableOptions& options) {
  Variable v{.dtype = initial.dtype(), .shape = initial.shape(), .resource = true, .trainable = options.trainable};
  v.handle = b.op("VarHandleOp", {},
                  {{"dtype", v.dtype},
                   {"shape", v.shape},
                   {"shared_name", name},
                   {"container", options.container},
                   {"_class", std::vector<std::string>{"loc:@" + name}}},
                  name + "/");
  auto place = b.device(op_of(v.handle).device());
  {
    auto scope = b.scope(name + "/IsInitialized/");
    b.op("VarIsInitializedOp", {v.handle});
  }
  v.initializer = b.op("AssignVariableOp", {v.handle, initial}, {}, name + "/Assign/");
  auto scope = b.scope(name + "/Read/");
  v.snapshot = b.op("ReadVariableOp", {v.handle}, {{"dtype", v.dtype}});
  return v;
}

Variable make_reference(Builder& b, const std::string& name, const Out& initial, const VariableOptions& options) {
  Variable v{.dtype = initial.dtype(), .shape = initial.shape(), .resource = false, .trainable = options.trainable};
  v.handle = b.op("VariableV2", {}, {{"dtype", v.dtype}, {"shape", v.shape}, {"container", options.container}}, name + "/");
  auto beside = b.beside(op_of(v.handle));
  v.initializer = b.op("Assign", {v.handle, initial}, {}, name + "/Assign/");
  v.snapshot = b.op("Identity", {v.handle}, {}, name + "/read/");
  return v;
}

}  // namespace

Initial value_of(Tensor value) {
  return [value](Builder& b) { return b.constant(value, "initial_value"); };
}

namespace {
Initial filled_as(const char* name, Shape shape, double value, DType type) {
  return [=](Builder& b) -> Out {
    auto scope = b.scope(name);
    return b.op("Fill", {dense_shape(b, shape), b.number(value, type, "Const")}, {}, b.scope_name());
  };
}
}  // namespace

Initial filled(Shape shape, double value, DType type) { return filled_as("Fill", std::move(shape), value, type); }
Initial ones(Shape shape, DType type) { return filled_as("ones", std::move(shape), 1, type); }

Initial zeros(Shape shape, DType type) {
  // A long row of zeros would make the graph as large as the model.
  if (shape.elements() >= 1000) return filled_as("zeros", std::move(shape), 0, type);
  return [=](Builder& b) -> Out { return b.constant(Tensor::zeros(type, shape), "zeros"); };
}

Initial random_uniform(Shape shape, double low, double high, std::int64_t seed, std::int64_t seed2, DType type) {
  return [=](Builder& b) -> Out {
    auto scope = b.scope("random_uniform");
    const Out sizes = dense_shape(b, shape), min = b.number(low, type, "min"), max = b.number(high, type, "max");
    const Out raw = b.op("RandomUniform", {sizes}, {{"dtype", type}, {"seed", seed}, {"seed2", seed2}});
    const Out width = b.op("Sub", {max, min}, {}, "sub");
    const Out product = b.op("Mul", {raw, width}, {}, "mul");
    return b.op("AddV2", {product, min}, {}, b.scope_name());
  };
}

Initial random_normal(Shape shape, double stddev, std::int64_t seed, std::int64_t seed2, DType type) {
  return scaled("random_normal", "RandomStandardNormal", std::move(shape), stddev, seed, seed2, type);
}

Initial truncated_normal(Shape shape, double stddev, std::int64_t seed, std::int64_t seed2, DType type) {
  return scaled("truncated_normal", "TruncatedNormal", std::move(shape), stddev, seed, seed2, type);
}

Initial glorot_uniform(Shape shape, std::int64_t seed, std::int64_t seed2, DType type) {
  const int rank = shape.rank();
  const double window = rank > 2 ? static_cast<double>(shape.elements(0, rank - 2)) : 1.0;
  const double in = rank > 1 ? window * static_cast<double>(shape[rank - 2]) : static_cast<double>(shape.elements());
  const double out = rank > 1 ? window * static_cast<double>(shape[rank - 1]) : in;
  const double limit = std::sqrt(6.0 / std::max(1.0, in + out));
  return random_uniform(std::move(shape), -limit, limit, seed, seed2, type);
}

Variable variable(Builder& b, const std::string& name, const Initial& initial, const VariableOptions& options) {
  const std::string full = b.unique_name(name);
  auto no_controls = b.after_nothing();
  Out value;
  {
    // A slot is made beside its variable, and so is its initial value.
    std::optional<Builder::Scope> beside;
    if (!b.is_beside()) beside.emplace(b.beside(full));
    auto scope = b.scope(full + "/Initializer/");
    value = initial(b);
  }
  if (!value.valid()) {
    b.fail(invalid("The initial value of variable '{}' could not be built", full));
    return {};
  }
  Variable made = options.resource ? make_resource(b, full, value, options) : make_reference(b, full, value, options);
  if (made.valid() && !options.local) b.remember(made);
  return made;
}

Variable global_step(Builder& b) { return variable(b, "global_step", zeros({}, DType::i64), {.trainable = false}); }

namespace {
/// What touches a variable sits beside it, whatever the scopes around say.
Op touch(const Variable& v, const char* resource_kind, const char* reference_kind, std::vector<In> inputs, const Attrs& attrs = {},
         const std::string& name = {}) {
  if (!v.valid()) return {};
  Builder& b = *v.handle.builder;
  auto here = b.beside(op_of(v.handle));
  inputs.insert(inputs.begin(), v.handle);
  return b.op(v.resource ? resource_kind : reference_kind, inputs, attrs, name);
}
}  // namespace

Out Variable::read() const { return resource ? Out(touch(*this, "ReadVariableOp", "", {}, {{"dtype", dtype}})) : snapshot; }

Op Variable::assign(const Out& value) const { return touch(*this, "AssignVariableOp", "Assign", {value}); }
Op Variable::assign_add(const Out& value, const std::string& name) const {
  return touch(*this, "AssignAddVariableOp", "AssignAdd", {value}, {}, name);
}
Op Variable::assign_sub(const Out& value) const { return touch(*this, "AssignSubVariableOp", "AssignSub", {value}); }
Op Variable::scatter_add(const Out& indices, const Out& updates) const {
  return touch(*this, "ResourceScatterAdd", "ScatterAdd", {indices, updates});
}
Op Variable::scatter_sub(const Out& indices, const Out& updates) const {
  return touch(*this, "ResourceScatterSub", "ScatterSub", {indices, updates});
}

}  // namespace troupe::build
