// Which nodes of a graph are known before any step: constants, and what pure kernels make of them.
#pragma once

#include <troupe/devices/plan.hpp>

#include <optional>

namespace troupe {

/// Found when a plan is compiled. Results never change by it: what fails, waits, draws, touches state or gets big is left to the steps.
class Constants {
 public:
  /// `nodes` are the graph's, described and with their kernels.
  static StatusOr<Constants> find(const Graph& graph, const std::vector<PlanNode>& nodes);

  /// The node needs not run: all its consumers have its values.
  bool bound(int node) const { return !kept_[static_cast<std::size_t>(node)]; }
  /// The constant at an input; null where the value comes along an edge.
  const Tensor* at(const Graph& graph, int node, int input) const;
  /// The control inputs of a node, those of its constants included.
  const std::vector<int>& controls(int node) const { return controls_[static_cast<std::size_t>(node)]; }

 private:
  /// The values of a node, and whom they must wait for.
  struct Known {
    std::vector<Tensor> values;
    std::vector<int> after;
  };

  void consider(const Graph& graph, const std::vector<PlanNode>& nodes, int i);
  std::vector<int> sources(const Graph& graph, int i) const;
  bool takes_preset(const PlanNode& p, int input) const;
  void keep_what_is_needed(const Graph& graph, const std::vector<PlanNode>& nodes, const std::vector<int>& order);
  void join_controls(const Graph& graph);

  std::vector<std::optional<Known>> known_;
  std::vector<bool> kept_, merges_;
  std::vector<std::vector<int>> controls_;
};

}  // namespace troupe
