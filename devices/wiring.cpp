// The wiring of a plan.
#include <troupe/devices/wiring.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe {
namespace {

bool hands_on(const PlanNode& p) {
  static constexpr std::array<std::string_view, 4> ops{"Identity", "StopGradient", "PreventGradient", "LoopCond"};
  return std::find(ops.begin(), ops.end(), p.facts.op) != ops.end();
}

}  // namespace

std::vector<bool> may_hand_references(const Graph& graph, const std::vector<PlanNode>& nodes, const std::vector<int>& order) {
  std::vector<bool> may(nodes.size(), false);
  for (int i : order) {
    const PlanNode& p = nodes[static_cast<std::size_t>(i)];
    bool passes = p.flow != Flow::kernel || p.facts.op == "Identity";
    if (passes) {
      const auto& inputs = graph.node(i).inputs;
      passes = std::any_of(inputs.begin(), inputs.end(), [&](const Edge& e) { return may[static_cast<std::size_t>(e.node)]; });
    }
    may[static_cast<std::size_t>(i)] = passes || p.ref_output;
  }
  return may;
}

std::vector<Wiring> wiring_of(const Graph& graph, const std::vector<PlanNode>& nodes, const Constants& constants) {
  std::vector<Wiring> all(nodes.size());
  for (int i = 0; i < graph.size(); ++i) {
    Wiring& w = all[static_cast<std::size_t>(i)];
    w.runs = !constants.bound(i);
    if (!w.runs) continue;
    const auto& inputs = graph.node(i).inputs;
    for (int k = 0; k < static_cast<int>(inputs.size()); ++k) w.inputs.push_back({inputs[static_cast<std::size_t>(k)], constants.at(graph, i, k)});
    w.controls = constants.controls(i);
  }
  return all;
}

void pass_over(std::vector<Wiring>& wiring, const std::vector<PlanNode>& nodes, const std::vector<int>& order, const std::vector<bool>& references) {
  std::vector<bool> waited_for(nodes.size(), false);
  for (const Wiring& w : wiring)
    for (int c : w.controls) waited_for[static_cast<std::size_t>(c)] = true;
  for (int i : order) {
    Wiring& w = wiring[static_cast<std::size_t>(i)];
    // Sources come before, so that the inputs of one that is passed over are final; the way back of a loop is no such node.
    for (auto& input : w.inputs)
      if (const Wiring& source = wiring[static_cast<std::size_t>(input.from.node)]; !input.constant && !source.runs) input = source.inputs[0];
    if (!w.runs || !hands_on(nodes[static_cast<std::size_t>(i)]) || waited_for[static_cast<std::size_t>(i)]) continue;
    if (!w.controls.empty() || w.inputs.size() != 1 || w.inputs[0].constant) continue;
    w.runs = references[static_cast<std::size_t>(w.inputs[0].from.node)];
  }
}

}  // namespace troupe
