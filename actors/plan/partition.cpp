// Partitioning: flow nodes moved next to their data, edges that cross devices carried, nodes dealt out to tasks.
#include <troupe/actors/plan/partition.hpp>

#include <troupe/actors/plan/crossing.hpp>
#include <troupe/actors/plan/frames.hpp>
#include <troupe/actors/plan/reachable.hpp>
#include <troupe/devices/plan.hpp>

namespace troupe {
namespace {

std::vector<int> first_users(const Graph& graph) {
  std::vector<int> first(graph.nodes().size(), -1);
  for (int i = graph.size() - 1; i >= 0; --i)
    for (const Edge& e : graph.node(i).inputs) first[static_cast<std::size_t>(e.node)] = i;
  return first;
}

/// Switch and Exit go where their value is, Enter and NextIteration where it goes to: fewer devices in a loop, fewer edges across.
Status move_flow(Graph& graph) {
  TRY_ASSIGN(const auto order, graph.topological_order());
  const auto users = first_users(graph);
  for (int i : order) {
    Node& node = graph.node(i);
    const int user = users[static_cast<std::size_t>(i)];
    if (is_switch(node) || is_exit(node)) node.device = graph.node(node.inputs[0].node).device;
    else if ((node.kind() == "Enter" || is_next_iteration(node)) && user >= 0) node.device = graph.node(user).device;
  }
  return absl::OkStatus();
}

Status carry_inputs(Graph& graph, int node, Crossing& crossing) {
  const std::string here = graph.node(node).device;
  for (std::size_t k = 0; k < graph.node(node).inputs.size(); ++k) {
    const Edge edge = graph.node(node).inputs[k];
    if (graph.node(edge.node).device == here) continue;
    TRY_ASSIGN(const Edge carried, crossing.carry(edge, node));
    graph.node(node).inputs[k] = carried;
  }
  for (std::size_t k = 0; k < graph.node(node).controls.size(); ++k) {
    const int control = graph.node(node).controls[k];
    if (graph.node(control).device == here) continue;
    TRY_ASSIGN(const int carried, crossing.carry_control(control, node));
    graph.node(node).controls[k] = carried;
  }
  return absl::OkStatus();
}

/// Whose values come to a node that writes a checkpoint.
std::vector<bool> saved_nodes(const Graph& graph) {
  std::vector<bool> saved(graph.nodes().size(), false);
  std::vector<int> left;
  for (int i = 0; i < graph.size(); ++i)
    if (is_save(graph.node(i).kind())) left.push_back(i);
  while (!left.empty()) {
    const int i = left.back();
    left.pop_back();
    if (saved[static_cast<std::size_t>(i)]) continue;
    saved[static_cast<std::size_t>(i)] = true;
    for (const Edge& e : graph.node(i).inputs) left.push_back(e.node);
  }
  return saved;
}

/// Tells the devices that a checkpoint elsewhere takes values from: what they read for it belongs together.
void mark_saved(Graph& graph, const std::vector<bool>& saved) {
  for (int i = static_cast<int>(saved.size()); i < graph.size(); ++i) {
    Node& node = graph.node(i);
    const bool sends = node.kind() == "_Send" || node.kind() == "_HostSend";
    if (!sends || node.inputs[0].node >= static_cast<int>(saved.size())) continue;
    if (saved[static_cast<std::size_t>(node.inputs[0].node)]) (*node.def.mutable_attr())[saved_attr].set_b(true);
  }
}

}  // namespace

std::string task_of(const std::string& device) {
  const auto at = device.find("/device:");
  return at == std::string::npos ? device : device.substr(0, at);
}

StatusOr<std::map<std::string, wire::GraphDef>> partition(Graph graph, const Incarnations& incarnation_of, std::uint64_t* counter) {
  TRY(move_flow(graph));
  TRY_ASSIGN(const Frames frames, Frames::of(graph));
  Crossing crossing(graph, frames, incarnation_of, counter);
  const int given = graph.size();
  const auto saved = saved_nodes(graph);
  for (int i = 0; i < given; ++i) TRY(carry_inputs(graph, i, crossing));
  mark_saved(graph, saved);
  const LibraryPtr library = graph.library();
  graph.set_library(nullptr);
  wire::GraphDef whole = graph.to_graph_def();
  std::map<std::string, wire::GraphDef> parts;
  for (auto& def : *whole.mutable_node()) parts[task_of(def.device())].add_node()->Swap(&def);
  for (auto& [task, part] : parts) {
    *part.mutable_versions() = whole.versions();
    if (library) *part.mutable_library() = reachable_functions(part, *library);
  }
  return parts;
}

}  // namespace troupe
