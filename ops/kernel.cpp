// Choice of a kernel for a node, and the checks that signatures share.
#include <troupe/ops/kernel.hpp>

#include <algorithm>

namespace troupe {

bool Registry::Entry::accepts(const wire::NodeDef& node) const {
  return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& c) {
    auto attr = node.attr().find(c.attr);
    return attr != node.attr().end() && without_ref(static_cast<DType>(attr->second.type())) == c.type;
  });
}

StatusOr<Kernel> Registry::bind(const wire::NodeDef& node, const wire::OpDef& op, const Signature& signature) const {
  auto found = entries_.find(node.op());
  if (found != entries_.end()) {
    for (const Entry& entry : found->second) {
      if (!entry.accepts(node)) continue;
      Binding binding(node, op, signature);
      auto kernel = entry.factory(binding);
      if (kernel.ok())
        if (auto cost = costs_.find(node.op()); cost != costs_.end()) kernel->ns_per_element = cost->second;
      return kernel;
    }
  }
  std::string types;
  for (const auto& [name, value] : node.attr())
    if (value.value_case() == wire::AttrValue::kType) types += fmt::format("{}{}={}", types.empty() ? "" : ", ", name, name_of(static_cast<DType>(value.type())));
  return unimplemented("No kernel for op '{}' with [{}] used by {{{{node {}}}}} on device {}", node.op(), types, node.name(), node.device());
}

namespace detail {

Status wrong_dtype(const Call& call, int input, DType wanted) {
  return invalid("{}-th value of {} is {}, expected {}", input, call.node().op, name_of(call.in(input).dtype()), name_of(wanted));
}

Status wrong_rank(const Call& call, int input, int wanted) {
  static constexpr const char* kinds[] = {"a scalar", "a vector", "a matrix"};
  return invalid("Input {} of {} must be {}, got shape {}", input, call.node().op, kinds[wanted], call.in(input).shape());
}

StatusOr<int> single(Binding& binding) {
  TRY_ASSIGN(auto range, binding.next_argument());
  if (range.second != range.first + 1) return internal("The kernel of {} takes a list as one input", binding.node().op());
  return range.first;
}

StatusOr<std::shared_ptr<Variable>> variable_at(Call& call, int input) {
  Value& value = call.input_value(input);
  if (value.ref) return value.ref;
  if (value.tensor.dtype() != DType::resource || value.tensor.size() < 1) return wrong_dtype(call, input, DType::resource);
  auto found = call.step().resources->find<Variable>(value.tensor.item<ResourceHandle>());
  const std::string& op = call.node().op;
  const bool trains = op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply");
  if (!found.ok() && trains) return internal("Invalid variable reference.");
  return found;
}

Status uninitialized(Call& call, int input, const Variable& variable) {
  if (call.input_value(input).ref) return failed_precondition("Attempting to use uninitialized value {}", variable.name());
  return failed_precondition("Error while reading resource variable {}. It is uninitialized.", variable.name());
}

}  // namespace detail
}  // namespace troupe
