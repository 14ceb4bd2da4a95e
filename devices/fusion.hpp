// Which element-wise nodes of a graph become one node of its plan.
#pragma once

#include <troupe/devices/wiring.hpp>
#include <troupe/ops/row_program.hpp>

#include <vector>

namespace troupe {

/// Element-wise nodes that are computed as one.
struct FusedGroup {
  std::vector<int> members;                                // sources before sinks; the last is the root, whose value is the group's
  std::vector<std::vector<RowProgram::Operand>> operands;  // of each member
  std::vector<Tensor> constants;
  std::vector<Edge> inputs;   // what the group gets from outside
  std::vector<int> controls;  // whom it waits for besides
};

/// A node whose value goes to one other node alone is computed together with that one, where both have row forms: they are a group.
class Fusion {
 public:
  static Fusion find(const std::vector<Wiring>& wiring, const std::vector<PlanNode>& nodes, const std::vector<int>& order,
                     const std::vector<bool>& references);

  /// Groups get the inputs of their members, of which only the root runs.
  void join(std::vector<Wiring>& wiring) const;

  /// In whose place a node is computed: its own, or its group's root's.
  int root(int node) const { return roots_[static_cast<std::size_t>(node)]; }
  bool inner(int node) const { return root(node) != node; }
  /// Null for a node that is computed by itself.
  const FusedGroup* group(int root) const;
  const std::vector<FusedGroup>& groups() const { return groups_; }

 private:
  FusedGroup describe(const std::vector<Wiring>& wiring, int root) const;
  static void find_operands(const std::vector<Wiring>& wiring, FusedGroup& group);

  std::vector<int> roots_;
  std::vector<int> group_of_;  // -1: none
  std::vector<FusedGroup> groups_;
};

}  // namespace troupe
