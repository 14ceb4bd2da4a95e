// Where a plan's nodes and values live: frames, slots and edges.
#include <troupe/devices/plan.hpp>

#include <troupe/devices/wiring.hpp>
#include <troupe/messaging/hash64.hpp>

#include <map>

namespace troupe {
namespace {

int parallel_iterations(const Node& node) {
  auto found = node.def.attr().find("parallel_iterations");
  return found == node.def.attr().end() ? 1 : static_cast<int>(std::max<std::int64_t>(1, found->second.i()));
}

}  // namespace

std::uint64_t combine_hashes(std::uint64_t a, std::uint64_t b) { return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4)); }

bool Plan::runs(int graph_node) const { return wiring_[static_cast<std::size_t>(graph_node)].runs; }

void Plan::assign_frames(const Graph& graph, const std::vector<int>& order) {
  frames_.push_back(PlanFrame{});
  std::map<std::pair<int, std::string>, int> known;
  std::vector<int> frame_of_outputs(static_cast<std::size_t>(graph.size()), 0);
  for (int i : order) {
    if (!runs(i)) continue;
    PlanNode& p = at(i);
    const Node& node = graph.node(i);
    const Wiring& wires = wiring_[static_cast<std::size_t>(i)];
    int frame = 0;
    auto consider = [&](int source) {
      if (at(source).flow == Flow::next_iteration) return;
      frame = std::max(frame, frame_of_outputs[static_cast<std::size_t>(source)]);
    };
    for (const auto& input : wires.inputs)
      if (!input.constant) consider(input.from.node);
    for (int c : wires.controls) consider(c);
    p.frame = frame;
    frame_of_outputs[static_cast<std::size_t>(i)] = frame;
    if (p.flow == Flow::exit) {
      frame_of_outputs[static_cast<std::size_t>(i)] = frames_[static_cast<std::size_t>(frame)].parent;
    } else if (p.flow == Flow::enter) {
      const std::string& name = node.def.attr().at("frame_name").s();
      auto [at, fresh] = known.try_emplace({frame, name}, static_cast<int>(frames_.size()));
      if (fresh) {
        PlanFrame f;
        f.name = name;
        f.parent = frame;
        f.name_hash = hash64(name);
        f.parallel_iterations = parallel_iterations(node);
        frames_.push_back(std::move(f));
      }
      p.child_frame = at->second;
      frames_[static_cast<std::size_t>(at->second)].enters += 1;
      frame_of_outputs[static_cast<std::size_t>(i)] = at->second;
    }
  }
}

void Plan::lay_out_slots() {
  for (int i = 0; i < static_cast<int>(places_.size()); ++i) {
    if (!runs(i)) continue;
    PlanNode& p = at(i);
    const Wiring& wires = wiring_[static_cast<std::size_t>(i)];
    PlanFrame& f = frames_[static_cast<std::size_t>(p.frame)];
    p.local = f.nodes++;
    p.slots = f.slots;
    f.slots += p.inputs;
    p.controls = static_cast<int>(wires.controls.size());
    int edges = p.inputs + p.controls;
    for (int k = 0; k < p.inputs; ++k) {
      const Tensor* value = wires.inputs[static_cast<std::size_t>(k)].constant;
      if (!value) continue;
      p.presets |= std::uint64_t{1} << k;
      f.presets.push_back({p.slots + k, *value});
      --edges;
    }
    f.initial.push_back({p.flow == Flow::merge ? 1 + 2 * p.controls : edges, 0});
    if (edges == 0) roots_.push_back(places_[static_cast<std::size_t>(i)]);
  }
}

void Plan::lay_out_edges() {
  std::vector<std::vector<PlanEdge>> out(nodes_.size());
  for (int i = 0; i < static_cast<int>(places_.size()); ++i) {
    if (!runs(i)) continue;
    const PlanNode& to = at(i);
    const Wiring& wires = wiring_[static_cast<std::size_t>(i)];
    const auto add = [&](int source, int output, int slot) {
      const bool leaves = to.flow == Flow::exit && to.controls == 0;
      out[static_cast<std::size_t>(places_[static_cast<std::size_t>(source)])].push_back(
          {output, places_[static_cast<std::size_t>(i)], to.local, slot, false, to.flow == Flow::merge, to.flow == Flow::trigger, leaves});
    };
    for (int k = 0; k < to.inputs; ++k) {
      const auto& input = wires.inputs[static_cast<std::size_t>(k)];
      if (!input.constant) add(input.from.node, input.from.output, to.slots + k);
    }
    for (int c : wires.controls) add(c, -1, 0);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::vector<bool> seen(static_cast<std::size_t>(nodes_[i].outputs), false);
    for (auto edge = out[i].rbegin(); edge != out[i].rend(); ++edge) {
      if (edge->output < 0) continue;
      edge->last = !seen[static_cast<std::size_t>(edge->output)];
      seen[static_cast<std::size_t>(edge->output)] = true;
    }
    nodes_[i].edges_begin = static_cast<int>(edges_.size());
    edges_.insert(edges_.end(), out[i].begin(), out[i].end());
    nodes_[i].edges_end = static_cast<int>(edges_.size());
  }
}

}  // namespace troupe
