// Frames: which loop each node of a graph belongs to.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// A loop, made by the Enters that name it. Frame 0 is the graph outside of all loops.
struct LoopFrame {
  std::string name;
  int parent = 0;
  std::int64_t parallel_iterations = 10;
  int condition = -1;  // its LoopCond
};

/// The loops of a graph. Errors are those that TensorFlow gives when a step is first run.
class Frames {
 public:
  static StatusOr<Frames> of(const Graph& graph);

  const LoopFrame& frame(int i) const { return frames_[static_cast<std::size_t>(i)]; }
  /// The frame that a node's values belong to. Those of an Enter belong to the loop, those of an Exit to its parent.
  int of_outputs(int node) const { return outputs_[static_cast<std::size_t>(node)]; }

 private:
  StatusOr<int> of_inputs(const Graph& graph, int node, const std::vector<int>& place) const;
  StatusOr<int> enter(const Node& node, int parent);

  std::vector<LoopFrame> frames_{LoopFrame{}};
  std::unordered_map<std::string, int> by_name_;
  std::vector<int> outputs_;
};

bool is_enter(const Node& node);
bool is_exit(const Node& node);
bool is_switch(const Node& node);
bool is_next_iteration(const Node& node);

}  // namespace troupe
