// Texts of failed placements.
#include <troupe/actors/plan/placement_text.hpp>

#include <troupe/ops/op_summary.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace troupe {
namespace {

std::string input_names(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  for (const Edge& e : node.inputs) {
    const std::string& source = graph.node(e.node).name();
    names.push_back(e.output == 0 ? source : fmt::format("{}:{}", source, e.output));
  }
  for (int c : node.controls) names.push_back("^" + graph.node(c).name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// `{{node a}} = Neg[T=DT_FLOAT, _device="/gpu:0"](x)`.
std::string definition_text(const Graph& graph, const Node& node) {
  std::vector<std::string> attrs;
  for (const auto& [name, value] : node.def.attr()) attrs.push_back(fmt::format("{}={}", name, summary_of(value)));
  std::sort(attrs.begin(), attrs.end());
  if (!node.def.device().empty()) attrs.push_back(fmt::format("_device=\"{}\"", node.def.device()));
  return fmt::format("{{{{node {}}}}} = {}[{}]({})", node.name(), node.kind(), fmt::join(attrs, ", "), input_names(graph, node));
}

std::set<std::string> types_of(const std::vector<std::string>& devices) {
  std::set<std::string> types;
  for (const auto& device : devices)
    if (auto name = parse_device(device); name.ok() && name->type) types.insert(*name->type);
  return types;
}

/// Kernels are not asked here: every type of device counts as one that could run the node.
std::string group_text(const Graph& graph, int group, Colocation& groups, const std::vector<std::string>& devices) {
  const Wish& wish = groups.wish_of(group);
  const auto types = types_of(devices);
  std::string text = fmt::format(
      "\nColocation Debug Info:\nColocation group had the following types and supported devices: \nRoot Member("
      "assigned_device_name_index_=-1 requested_device_name_='{}' assigned_device_name_='{}' resource_device_name_='{}' "
      "supported_device_types_=[{}] possible_devices_=[]",
      to_string(wish.requested), to_string(wish.assigned), to_string(wish.resource), fmt::join(types, ", "));
  // TensorFlow's order here is that of a hash map, and the same kind of map gives the same order.
  std::unordered_map<std::string, std::string> supported;
  const auto members = groups.members_of(group);
  for (int i : members) supported[graph.node(i).kind()] = fmt::format("{} ", fmt::join(types, " "));
  for (const auto& [op, on] : supported) text += fmt::format("\n{}: {}", op, on);
  text += "\n\nColocation members, user-requested devices, and framework assigned devices, if any:";
  for (int i : members) {
    const Node& node = graph.node(i);
    text += fmt::format("\n  {} ({}) {}", node.name(), node.kind(), node.def.device());
    if (!node.device.empty()) text += " framework assigned device=" + node.device;
  }
  return text + "\n";
}

Status cannot_assign(const Node& node, const std::string& why) {
  return with_node(invalid("Cannot assign a device for operation {}: {}", node.name(), why), node);
}

}  // namespace

Status with_node(const Status& status, const Node& node) {
  const bool named = text_of(status).find("{{node ") != std::string::npos;
  return append_text(status, named ? fmt::format("\n\t [[{}]]", node.name()) : fmt::format("\n\t [[{{{{node {}}}}}]]", node.name()));
}

Status malformed_device(const Graph& graph, int node, int place) {
  const Node& n = graph.node(node);
  // TensorFlow's own numbers of nodes begin with its source and sink.
  return with_node(invalid("Malformed device specification '{}' in node: {{name:'{}' id:{} op device:{{requested: '{}', assigned: ''}} def:{{{}}}}}",
                           n.def.device(), n.name(), place + 2, n.def.device(), definition_text(graph, n)),
                   n);
}

Status no_such_device(const Node& node, std::vector<std::string> devices) {
  std::sort(devices.begin(), devices.end());
  return cannot_assign(node, fmt::format("{{{{node {}}}}} was explicitly assigned to {} but available devices are [ {} ]. Make sure the device "
                                         "specification refers to a valid device.",
                                         node.name(), node.def.device(), fmt::join(devices, ", ")));
}

Status no_device_for_group(const Graph& graph, int node, Colocation& groups, const std::vector<std::string>& devices) {
  const Node& n = graph.node(node);
  const int group = groups.group_of(node);
  return cannot_assign(n,
                       fmt::format("Could not satisfy explicit device specification '{}' because the node {{{{colocation_node {}}}}} was colocated "
                                   "with a group of nodes that required incompatible device '{}'. All available devices [{}]. {}",
                                   n.def.device(), n.name(), to_string(groups.wish_of(group).requested), fmt::join(devices, ", "),
                                   group_text(graph, group, groups, devices)));
}

}  // namespace troupe
