// Choice of a kernel for a node, and the checks that signatures share.
#include <troupe/ops/kernel.hpp>

#include <troupe/ops/data/made.hpp>
#include <troupe/ops/op_summary.hpp>

#include <algorithm>

namespace troupe {

bool Registry::Entry::accepts(const wire::NodeDef& node) const {
  return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& c) {
    auto attr = node.attr().find(c.attr);
    return attr != node.attr().end() && without_ref(static_cast<DType>(attr->second.type())) == c.type;
  });
}

namespace {

/// "  device='CPU'; T in [DT_FLOAT]" for each kernel that there is.
std::string kernels_text(const std::vector<Registry::Entry>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += "  device='CPU'";
    for (const auto& c : entry.constraints) {
      wire::AttrValue type;
      type.set_type(static_cast<wire::DataType>(c.type));
      text += fmt::format("; {} in [{}]", c.attr, summary_of(type));
    }
    text += "\n";
  }
  return text.empty() ? "  <no registered kernels>\n" : text;
}

Status no_kernel(const wire::NodeDef& node, const std::vector<Registry::Entry>& entries) {
  std::vector<std::string> attrs;
  for (const auto& [name, value] : node.attr())
    if (name == "_kernel" || !name.starts_with("_")) attrs.push_back(fmt::format("{}={}", name, summary_of(value)));
  std::sort(attrs.begin(), attrs.end());
  return unimplemented(
      "No OpKernel was registered to support Op '{}' used by {{{{node {}}}}} with these attrs: [{}]\nRegistered devices: [CPU]\nRegistered "
      "kernels:\n{}",
      node.op(), node.name(), fmt::join(attrs, ", "), kernels_text(entries));
}

}  // namespace

StatusOr<Kernel> Registry::bind(const wire::NodeDef& node, const wire::OpDef& op, const Signature& signature) const {
  auto found = entries_.find(node.op());
  if (found != entries_.end()) {
    for (const Entry& entry : found->second) {
      if (!entry.accepts(node)) continue;
      Binding binding(node, op, signature);
      auto kernel = entry.factory(binding);
      if (kernel.ok())
        if (auto cost = costs_.find(node.op()); cost != costs_.end()) kernel->ns_per_element = cost->second;
      if (kernel.ok() && makes_dataset(op)) return remembering(*std::move(kernel), node);
      return kernel;
    }
  }
  return no_kernel(node, found != entries_.end() ? found->second : std::vector<Entry>{});
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
