// Stack ops.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/stack.hpp>

#include <atomic>

namespace troupe {

template <>
struct named_in_step<Stack> {
  static constexpr const char* complaint = "Stack handle must have two elements";
};

namespace {

struct Declaration {
  std::string name;
  DType dtype = DType::invalid;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.name, binding.attr<std::string>("stack_name"));
    if (d.name.empty()) d.name = binding.node().name();
    TRY_ASSIGN(d.dtype, binding.attr<DType>("elem_type"));
    return d;
  }

  std::shared_ptr<Stack> open(std::int64_t most) const {
    static std::atomic<std::uint64_t> counter{0};
    return std::make_shared<Stack>(fmt::format("{}_{}", name, counter++), dtype, most);
  }
};

}  // namespace

void add_stacks(Registry& ops) {
  ops.add("Stack", [](Call& call, Step& step, State<Declaration> d) {
    auto stack = d->open(-1);
    step.resources->put(step.container(), "_stacks" + stack->name(), resource_type<Stack>::name, stack);
    call.output_value(0).ref = reference_to("_stacks", stack->name());
  });
  ops.add("StackV2", [](Call& call, Step& step, In<std::int32_t> most, State<Declaration> d) -> Status {
    if (most.dims() != 0) return invalid("Stack size must be a scalar, but had shape: {}", most.shape());
    auto stack = d->open(most[0]);
    ResourceHandle handle = step.resources->handle_to<Stack>(step.device, step.container(), stack->name());
    handle.resource = std::move(stack);
    call.set(0, Tensor::scalar<ResourceHandle>(std::move(handle)));
    return absl::OkStatus();
  });
  ops.add({"StackPush", "StackPushV2"}, [](Call& call, Step&, Shared<Stack> stack, Any value) -> Status {
    if (value->dtype() != stack->dtype())
      return invalid("Must have type {} but got {}", static_cast<int>(stack->dtype()), static_cast<int>(value->dtype()));
    TRY(stack->push(value.tensor));
    call.set(0, value.tensor);
    return absl::OkStatus();
  });
  ops.add({"StackPop", "StackPopV2"}, [](Call& call, Step&, Shared<Stack> stack, Attr<"elem_type", DType> dtype) -> Status {
    if (*dtype != stack->dtype()) return invalid("Must have type {} but got {}.", name_of(stack->dtype()), name_of(*dtype));
    TRY_ASSIGN(Tensor top, stack->pop());
    call.set(0, std::move(top));
    return absl::OkStatus();
  });
  ops.add({"StackClose", "StackCloseV2"}, [](Call&, Step&, Shared<Stack> stack) { stack->close(); });
}

}  // namespace troupe
