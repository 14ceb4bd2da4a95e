// Variables behind reference edges, and the updates that go through such an edge.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/state/resource_name.hpp>

namespace troupe {
namespace {

/// What a VariableV2 node declares.
struct Declaration {
  ResourceName where;
  std::string node;
  DType dtype = DType::invalid;
  Shape shape;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.where, ResourceName::make(binding));
    TRY_ASSIGN(d.dtype, binding.attr<DType>("dtype"));
    TRY_ASSIGN(PartialShape shape, binding.attr<PartialShape>("shape"));
    if (!shape.unknown_rank()) {
      if (!shape.fully_known()) return invalid("Shape {} is not fully defined", shape);
      TRY_ASSIGN(d.shape, Shape::checked(shape.dims()));
    }
    d.node = binding.node().name();
    return d;
  }
};

Status refer_to_variable(Call& call, Step& step, State<Declaration> d) {
  const auto make = [&]() -> StatusOr<std::shared_ptr<RefVariable>> {
    return std::make_shared<RefVariable>(std::make_shared<Variable>(d->where.name, d->dtype, PartialShape(d->shape)));
  };
  const std::string& container = step.resources->container_or_default(d->where.container);
  TRY_ASSIGN(auto held, step.resources->find_or_create<RefVariable>(container, d->where.name, make));
  if (held->variable->dtype() != d->dtype)
    return internal("Output 0 of type {} does not match declared output type {} for node {{{{node {}}}}}", name_of(as_ref(held->variable->dtype())),
                    name_of(as_ref(d->dtype)), d->node);
  call.output_value(0).ref = held->variable;
  return absl::OkStatus();
}

/// The shape that an assignment has to fit: that of the value, or the declared one.
Shape shape_of(const Variable& variable) {
  return variable.initialized() ? variable.snapshot().shape() : variable.declared_shape().known().value_or(Shape{});
}

std::string temporary_name(const Call& call, const std::string& name) {
  return fmt::format("{}/frame:{}/iter:{}", name, call.tag().frame, call.tag().iteration);
}

Status make_temporary(Call& call, Step& step, Attr<"dtype", DType> dtype, Attr<"shape", PartialShape> declared,
                      Attr<"var_name", std::string> var_name) {
  if (!declared->fully_known()) return invalid("Shape {} is not fully defined", *declared);
  TRY_ASSIGN(Shape shape, Shape::checked(declared->dims()));
  const std::string name = temporary_name(call, var_name->empty() ? call.node().name : *var_name);
  if (step.resources->find<TemporaryVariable>(step.container(), name).ok())
    return already_exists("Resource {}/{}/{}", step.container(), name, resource_type<TemporaryVariable>::name);
  auto variable = std::make_shared<Variable>(name, *dtype, *declared);
  variable->assign(Tensor::zeros(*dtype, shape));
  step.resources->put(step.container(), name, resource_type<TemporaryVariable>::name, std::make_shared<TemporaryVariable>(variable));
  call.output_value(0).ref = std::move(variable);
  return absl::OkStatus();
}

template <class T>
StatusOr<T> count_up(Var<T> variable, std::int64_t limit) {
  if (variable.shape().rank() != 0) return invalid("input is not a scalar: {}", variable.shape());
  const T before = variable.snapshot().template item<T>();
  if (before >= limit) return out_of_range("Reached limit of {}", limit);
  *variable.write() = static_cast<T>(before + 1);
  return before;
}

}  // namespace

void add_ref_variables(Registry& ops) {
  ops.add({"Variable", "VariableV2"}, [](Call& call, Step& step, State<Declaration> d) { return refer_to_variable(call, step, d); });

  ops.add("TemporaryVariable", [](Call& call, Step& step, Attr<"dtype", DType> dtype, Attr<"shape", PartialShape> shape,
                                  Attr<"var_name", std::string> name) { return make_temporary(call, step, dtype, shape, name); });
  ops.add("DestroyTemporaryVariable", [](Call& call, AnyVar variable, Attr<"var_name", std::string> name, Step& step) -> Status {
    TRY(step.resources->erase(step.container(), temporary_name(call, *name), resource_type<TemporaryVariable>::name));
    call.set(0, variable->snapshot());
    return absl::OkStatus();
  });

  ops.add("IsVariableInitialized", [](Call& call, AnyVar variable) { call.set_scalar(0, variable->initialized()); });

  ops.add("Assign", [](Call&, AnyVar variable, Any value, Attr<"validate_shape", bool> validate) -> Status {
    if (value->dtype() != variable->dtype())
      return invalid("Assign requires types of both tensors to match. lhs type= {} rhs type= {}", name_of(variable->dtype()),
                     name_of(value->dtype()));
    if (const Shape shape = shape_of(*variable.variable); validate && shape != value->shape())
      return invalid("Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= {}", shape, value->shape());
    variable->assign(value.tensor);
    return absl::OkStatus();
  });

  const auto update = [&ops](const char* op, auto combine) {
    ops.add(op, numbers{}, [combine]<class T>(Call&, Var<T> variable, In<T> value) -> Status {
      if (variable.shape() != value.shape()) return invalid("Parameters and update must be the same size");
      T* out = variable.write();
      for (std::int64_t i = 0; i < value.size(); ++i) out[i] = combine(out[i], value[i]);
      return absl::OkStatus();
    });
  };
  update("AssignAdd", []<class T>(const T& old, const T& value) { return wrap_add(old, value); });
  update("AssignSub", []<class T>(const T& old, const T& value) { return wrap_sub(old, value); });

  ops.add({"CountUpTo", "ResourceCountUpTo"}, indices{}, []<class T>(Call& call, Var<T> variable, Attr<"limit", std::int64_t> limit) -> Status {
    TRY_ASSIGN(T before, count_up<T>(variable, *limit));
    call.set_scalar<T>(0, before);
    return absl::OkStatus();
  });
}

}  // namespace troupe
