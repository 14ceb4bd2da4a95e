// Finding of loops.
#include <troupe/actors/plan/frames.hpp>

#include <algorithm>

namespace troupe {

bool is_enter(const Node& node) { return node.kind() == "Enter" || node.kind() == "RefEnter"; }
bool is_exit(const Node& node) { return node.kind() == "Exit" || node.kind() == "RefExit"; }
bool is_switch(const Node& node) { return node.kind() == "Switch" || node.kind() == "RefSwitch" || node.kind() == "_SwitchN"; }
bool is_next_iteration(const Node& node) { return node.kind() == "NextIteration" || node.kind() == "RefNextIteration"; }

StatusOr<Frames> Frames::of(const Graph& graph) {
  Frames frames;
  frames.outputs_.assign(graph.nodes().size(), 0);
  TRY_ASSIGN(const auto order, graph.topological_order());
  std::vector<int> place(graph.nodes().size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  for (int i : order) {
    const Node& node = graph.node(i);
    TRY_ASSIGN(int frame, frames.of_inputs(graph, i, place));
    if (node.kind() == "LoopCond") frames.frames_[static_cast<std::size_t>(frame)].condition = i;
    if (is_enter(node)) {
      TRY_ASSIGN(frame, frames.enter(node, frame));
    } else if (is_exit(node)) {
      if (frame == 0) return invalid("Invalid Exit op: Cannot find a corresponding Enter op.");
      frame = frames.frame(frame).parent;
    }
    frames.outputs_[static_cast<std::size_t>(i)] = frame;
  }
  return frames;
}

/// All inputs of a node are of one frame. A loop's next round comes from its own frame and is not asked.
StatusOr<int> Frames::of_inputs(const Graph& graph, int node, const std::vector<int>& place) const {
  std::vector<int> sources;
  for (const Edge& e : graph.node(node).inputs) sources.push_back(e.node);
  sources.insert(sources.end(), graph.node(node).controls.begin(), graph.node(node).controls.end());
  std::erase_if(sources, [&](int i) { return is_next_iteration(graph.node(i)); });
  if (sources.empty()) return 0;
  // The text names the two in the order in which the graph is walked.
  std::sort(sources.begin(), sources.end(), [&](int a, int b) { return place[static_cast<std::size_t>(a)] < place[static_cast<std::size_t>(b)]; });
  const int first = sources[0];
  auto other = std::find_if(sources.begin(), sources.end(), [&](int i) { return of_outputs(i) != of_outputs(first); });
  if (other == sources.end()) return of_outputs(first);
  auto describe = [&](int i) { return fmt::format("The input {{{{node {}}}}} is in frame '{}'.", graph.node(i).name(), frame(of_outputs(i)).name); };
  return invalid("{{{{node {}}}}} has inputs from different frames. {} {}", graph.node(node).name(), describe(*other), describe(first));
}

StatusOr<int> Frames::enter(const Node& node, int parent) {
  const std::string& name = node.def.attr().at("frame_name").s();
  auto [known, fresh] = by_name_.try_emplace(name, static_cast<int>(frames_.size()));
  if (fresh) frames_.push_back({name, parent, node.def.attr().at("parallel_iterations").i(), -1});
  if (const int before = frame(known->second).parent; before != parent)
    return internal(
        "Invalid loop structure: Mismatched parent frames for \"{}\": \"{}\" vs \"{}\". The node giving this error: {{{{node {}}}}}. This is "
        "an internal bug, please file a bug report with instructions on how to reproduce the error.",
        name, frame(parent).name, frame(before).name, node.name());
  return known->second;
}

}  // namespace troupe
