// How the nodes of a graph hang together in its plan.
#pragma once

#include <troupe/devices/constants.hpp>
#include <troupe/devices/plan.hpp>

#include <vector>

namespace troupe {

/// How a node of a plan gets its inputs, once constants are bound and nodes that only hand on are passed over.
struct Wiring {
  struct Input {
    Edge from;
    const Tensor* constant = nullptr;  // in place of the edge
  };
  bool runs = true;  // false: nobody needs the node
  std::vector<Input> inputs;
  std::vector<int> controls;
};

/// Nodes that may hand over a variable instead of its value: whoever reads it shall do so when TensorFlow would. By node.
std::vector<bool> may_hand_references(const Graph& graph, const std::vector<PlanNode>& nodes, const std::vector<int>& order);

/// The wiring of all nodes.
std::vector<Wiring> wiring_of(const Graph& graph, const std::vector<PlanNode>& nodes, const Constants& constants);

/// Nodes that hand on their one input as it is, and for whom nobody waits otherwise, need not run: their consumers get it from its source.
void pass_over(std::vector<Wiring>& wiring, const std::vector<PlanNode>& nodes, const std::vector<int>& order, const std::vector<bool>& references);

}  // namespace troupe
