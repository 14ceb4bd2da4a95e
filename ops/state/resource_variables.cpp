// Variables behind resource handles: handles, reading, assignment, destruction.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <limits>

namespace troupe {
namespace {

/// The shared name that asks for a variable of the handle's own.
constexpr std::string_view anonymous_name = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

struct VariableFacts {
  std::string container, name;
  DType dtype = DType::invalid;
  PartialShape shape;
};

Tensor handle_to(Step& step, const VariableFacts& facts) {
  auto handle = step.resources->handle_to<Variable>(step.device, step.resources->container_or_default(facts.container), facts.name);
  handle.dtypes_and_shapes.emplace_back(facts.dtype, facts.shape);
  if (facts.name == anonymous_name) {
    auto variable = std::make_shared<Variable>(facts.name, facts.dtype, facts.shape);
    variable->start_empty();
    handle.resource = std::move(variable);
  }
  return Tensor::scalar<ResourceHandle>(std::move(handle));
}

/// Handles to named variables are made once; one to an anonymous variable is made anew for each step.
struct HandleMaker {
  std::vector<VariableFacts> facts;
  std::vector<Tensor> made;

  static StatusOr<HandleMaker> make(Binding& binding) {
    HandleMaker maker;
    if (binding.node().op() == "VarHandleOp") {
      VariableFacts f;
      TRY_ASSIGN(f.container, binding.attr<std::string>("container"));
      TRY_ASSIGN(f.name, binding.attr<std::string>("shared_name"));
      TRY_ASSIGN(f.dtype, binding.attr<DType>("dtype"));
      TRY_ASSIGN(f.shape, binding.attr<PartialShape>("shape"));
      maker.facts.push_back(std::move(f));
    } else {
      TRY_ASSIGN(auto containers, binding.attr<std::vector<std::string>>("containers"));
      TRY_ASSIGN(auto names, binding.attr<std::vector<std::string>>("shared_names"));
      TRY_ASSIGN(auto dtypes, binding.attr<std::vector<DType>>("dtypes"));
      TRY_ASSIGN(auto shapes, binding.attr<std::vector<PartialShape>>("shapes"));
      const auto n = binding.signature().outputs.size();
      if (containers.size() != n || names.size() != n || dtypes.size() != n || shapes.size() != n)
        return invalid("Lists of containers, names, dtypes and shapes must have one entry per handle");
      for (std::size_t i = 0; i < n; ++i) maker.facts.push_back({containers[i], names[i], dtypes[i], shapes[i]});
    }
    maker.made.resize(maker.facts.size());
    return maker;
  }

  Tensor handle(Step& step, std::size_t i) {
    if (facts[i].name == anonymous_name) return handle_to(step, facts[i]);
    if (!made[i].valid()) made[i] = handle_to(step, facts[i]);
    return made[i];
  }
};

StatusOr<std::shared_ptr<Variable>> find_to_read(Step& step, const ResourceHandle& handle) {
  auto found = step.resources->find<Variable>(handle);
  if (found.ok()) return found;
  return failed_precondition(
      "Could not find variable {}. This could mean that the variable has been deleted. In TF1, it can also mean the variable is "
      "uninitialized. Debug info: container={}, status error message={}",
      handle.name, handle.container, text_of(found.status()));
}

StatusOr<Tensor> read(Step& step, const ResourceHandle& handle, DType dtype) {
  TRY_ASSIGN(auto variable, find_to_read(step, handle));
  if (variable->dtype() != dtype)
    return invalid("Trying to read variable with wrong dtype. Expected {} got {}", name_of(dtype), name_of(variable->dtype()));
  if (!variable->initialized()) return failed_precondition("Attempting to use uninitialized value {}", handle.name);
  return variable->snapshot();
}

Status read_many(Call& call, Step& step, const List& handles, const std::vector<DType>& dtypes) {
  std::vector<std::string> missing;
  for (int i = 0; i < handles.size(); ++i) {
    if (handles[i].dtype() != DType::resource || handles[i].size() < 1) return detail::wrong_dtype(call, i, DType::resource);
    const auto& handle = handles[i].item<ResourceHandle>();
    if (!step.resources->find<Variable>(handle).ok()) missing.push_back(handle.name);
  }
  if (!missing.empty())
    return failed_precondition("In ReadVariablesOp the following variables were found uninitialized: {}", fmt::join(missing, ", "));
  for (int i = 0; i < handles.size(); ++i) {
    TRY_ASSIGN(Tensor value, read(step, handles[i].item<ResourceHandle>(), dtypes[static_cast<std::size_t>(i)]));
    call.set(i, std::move(value));
  }
  return absl::OkStatus();
}

Status assign(Step& step, const ResourceHandle& handle, const Tensor& value, bool validate_shape) {
  auto variable = step.resources->find<Variable>(handle);
  if (!variable.ok() && variable.status().code() != Code::kNotFound) return variable.status();
  if (!variable.ok()) {
    variable = std::make_shared<Variable>(handle.name, value.dtype(), PartialShape(value.shape()));
    step.resources->put(handle.container, handle.name, resource_type<Variable>::name, *variable);
  }
  Variable& v = **variable;
  if (v.dtype() != value.dtype())
    return invalid("Trying to assign variable with wrong dtype. Expected {} got {}", name_of(v.dtype()), name_of(value.dtype()));
  if (validate_shape && v.assigned() && v.snapshot().shape() != value.shape())
    return invalid("Trying to assign to variable with tensor with wrong shape. Expected {} got {}", v.snapshot().shape(), value.shape());
  v.assign(value);
  return absl::OkStatus();
}

Status destroy(Step& step, const ResourceHandle& handle, bool ignore_missing) {
  if (handle.resource) return absl::OkStatus();
  const Status status = step.resources->erase(handle.container, handle.name, handle.type_name);
  if (status.ok() || ignore_missing) return absl::OkStatus();
  if (text_of(status).starts_with("Container ")) return not_found("Container {} does not exist.", handle.container);
  return not_found("Resource {}/{}/<unknown> does not exist.", handle.container, handle.name);
}

template <class I>
Status write_shape(Call& call, const Shape& shape) {
  I* out = call.alloc<I>(0, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) > std::numeric_limits<I>::max()) return invalid("Shape output type is 32-bit  but dim {} is {}", i, shape.dim(i));
    out[i] = static_cast<I>(shape.dim(i));
  }
  return absl::OkStatus();
}

}  // namespace

void add_resource_variables(Registry& ops) {
  ops.add({"VarHandleOp", "_VarHandlesOp"}, [](Call& call, Step& step, State<HandleMaker> maker) {
    for (int i = 0; i < call.outputs(); ++i) call.set(i, maker->handle(step, static_cast<std::size_t>(i)));
  });

  ops.add("ReadVariableOp", [](Call& call, Step& step, Handle handle, Attr<"dtype", DType> dtype) -> Status {
    TRY_ASSIGN(Tensor value, read(step, handle.handle, *dtype));
    call.set(0, std::move(value));
    return absl::OkStatus();
  });
  ops.add("_ReadVariablesOp",
          [](Call& call, Step& step, List handles, Attr<"dtypes", std::vector<DType>> dtypes) { return read_many(call, step, handles, *dtypes); });
  ops.add("DisableCopyOnRead", [](Call&, Step& step, Handle handle) { return find_to_read(step, handle.handle).status(); });

  ops.add("AssignVariableOp", [](Call&, Step& step, Handle handle, Any value, Attr<"validate_shape", bool> validate) {
    return assign(step, handle.handle, value.tensor, *validate);
  });
  const auto update = [&ops](const char* op, auto combine) {
    ops.add(op, On<"dtype", numbers>{}, [combine]<class T>(Call&, AnyVar variable, In<T> value) -> Status {
      if (variable->dtype() != dtype_of<T>::value || !variable->initialized()) return invalid("DType of variable handle and value does not match.");
      if (const Shape& shape = variable->snapshot().shape(); shape != value.shape())
        return invalid("Cannot update variable with shape {} using a Tensor with shape {}, shapes must be equal.", shape, value.shape());
      T* out = variable->writable().template mutable_data<T>();
      const T* by = value.data();
#pragma GCC ivdep
      for (std::int64_t i = 0, n = value.size(); i < n; ++i) out[i] = combine(out[i], by[i]);
      return absl::OkStatus();
    });
  };
  update("AssignAddVariableOp", []<class T>(const T& old, const T& value) { return wrap_add(old, value); });
  update("AssignSubVariableOp", []<class T>(const T& old, const T& value) { return wrap_sub(old, value); });

  ops.add("VarIsInitializedOp", [](Call& call, Step& step, Handle handle) {
    const auto variable = step.resources->find<Variable>(handle.handle);
    call.set_scalar(0, variable.ok() && (*variable)->assigned());
  });
  ops.add("VariableShape", [](Call& call, AnyVar variable, Attr<"out_type", DType> type) {
    const Shape shape = variable->initialized() ? variable->snapshot().shape() : Shape{0};
    return *type == DType::i64 ? write_shape<std::int64_t>(call, shape) : write_shape<std::int32_t>(call, shape);
  });
  ops.add("DestroyResourceOp",
          [](Call&, Step& step, Handle handle, Attr<"ignore_lookup_error", bool> ignore) { return destroy(step, handle.handle, *ignore); });
}

}  // namespace troupe
