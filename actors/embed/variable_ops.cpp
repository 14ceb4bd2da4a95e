// Ops for reading and writing of variables.
#include <troupe/actors/embed/variable_ops.hpp>

#include <vector>

namespace troupe::embed {
namespace {

wire::NodeDef& add_node(wire::GraphDef& graph, const wire::NodeDef& variable, const std::string& name, const char* op) {
  auto& node = *graph.add_node();
  node.set_name(name);
  node.set_op(op);
  node.set_device(variable.device());
  return node;
}

VariableOps add_ops(wire::GraphDef& graph, const wire::NodeDef& variable, bool resource) {
  const std::string scope = "troupe/variables/" + variable.name();
  VariableOps ops{variable.name(), scope + "/value", scope + "/read", scope + "/assign", scope + "/add", resource};
  const wire::AttrValue& dtype = variable.attr().at("dtype");
  // Colocated: a variable without a device of its own goes where its first user wants it.
  auto beside = [&](wire::NodeDef& node) { (*node.mutable_attr())["_class"].mutable_list()->add_s("loc:@" + variable.name()); };
  (*add_node(graph, variable, ops.value, "Placeholder").mutable_attr())["dtype"] = dtype;
  auto& read = add_node(graph, variable, ops.read, resource ? "ReadVariableOp" : "Identity");
  auto& assign = add_node(graph, variable, ops.assign, resource ? "AssignVariableOp" : "Assign");
  auto& add = add_node(graph, variable, ops.add, resource ? "AssignAddVariableOp" : "AssignAdd");
  read.add_input(variable.name());
  for (auto* write : {&assign, &add}) {
    write->add_input(variable.name());
    write->add_input(ops.value);
  }
  for (auto* node : {&read, &assign, &add}) {
    (*node->mutable_attr())[resource ? "dtype" : "T"] = dtype;
    beside(*node);
  }
  return ops;
}

}  // namespace

std::map<std::string, VariableOps> add_variable_ops(wire::GraphDef& graph) {
  std::map<std::string, VariableOps> all;
  std::vector<wire::NodeDef> variables;
  for (const auto& node : graph.node())
    if ((node.op() == "VarHandleOp" || node.op() == "VariableV2" || node.op() == "Variable") && node.attr().contains("dtype"))
      variables.push_back(node);
  for (const auto& variable : variables) all[variable.name()] = add_ops(graph, variable, variable.op() == "VarHandleOp");
  return all;
}

}  // namespace troupe::embed
