// Operands in the order of their names.
#include <troupe/actors/plan/operands.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace troupe {
namespace {

/// Add is not declared so, for the sake of strings.
bool commutes(const Node& node) {
  return node.op->is_commutative() ||
         (node.kind() == "Add" && !node.signature.inputs.empty() && without_ref(node.signature.inputs[0]) != DType::string);
}

/// What a tensor is called in the client's graph: a feed is what it takes the place of.
std::string name_of_operand(const Graph& step, const Edge& e) {
  const Node& node = step.node(e.node);
  const auto& attrs = node.def.attr();
  if (node.kind() == "_Recv")
    if (auto fed = attrs.find("tensor_name"); fed != attrs.end()) {
      const std::string& name = fed->second.s();
      return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
    }
  return e.output == 0 ? node.name() : fmt::format("{}:{}", node.name(), e.output);
}

}  // namespace

bool sorts_operands(const wire::RewriterConfig& wishes) {
  if (wishes.optimizers_size() > 0)
    return std::find(wishes.optimizers().begin(), wishes.optimizers().end(), "arithmetic") != wishes.optimizers().end();
  return wishes.arithmetic_optimization() != wire::RewriterConfig::OFF;
}

void sort_operands(Graph& step) {
  for (Node& node : step.nodes()) {
    if (node.inputs.size() < 2 || !commutes(node)) continue;
    std::vector<std::pair<std::string, Edge>> named;
    for (const Edge& e : node.inputs) named.emplace_back(name_of_operand(step, e), e);
    std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < named.size(); ++i) node.inputs[i] = named[i].second;
  }
}

}  // namespace troupe
