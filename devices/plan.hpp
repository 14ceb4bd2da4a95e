// A plan: one device's part of a graph, compiled to flat arrays of bound kernels, slots and edges.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>
#include <troupe/ops/kernel.hpp>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Kernels that keep state live as long as their session, whatever plans mention their node.
using KernelCache = std::unordered_map<std::string, std::shared_ptr<Kernel>>;

/// Ops that steer the flow of values are the executor's own; all others have a kernel.
enum class Flow : std::uint8_t { kernel, no_op, switch_, switch_n, merge, enter, exit, next_iteration, loop_cond, trigger, argument, result };

struct PlanEdge {
  int output;  // -1: control
  int node;
  int slot;   // input of the node
  bool last;  // no later edge carries this output: the value may move
};

/// What a node still waits for. A Merge counts its control inputs twice and keeps bit 0 until a live value came.
struct NodeState {
  int pending = 0;
  int dead = 0;
};

struct PlanNode {
  NodeFacts facts;
  std::shared_ptr<Kernel> kernel;  // null where the flow is the executor's own, or where no kernel exists
  Status missing;                  // why there is no kernel; given when a step needs the node
  Flow flow = Flow::kernel;
  bool transfer = false;  // Send and Recv see dead inputs
  bool allows_uninitialized = false;
  int frame = 0;  // static frame; 0 is the root
  int local = 0;  // place among the nodes of its frame
  int slots = 0;  // where its inputs begin in its frame's slots
  int inputs = 0, outputs = 0, controls = 0;
  int edges_begin = 0, edges_end = 0;
  std::uint64_t ref_inputs = 0;  // bit i: input i wants the reference itself (the first 64 inputs)
  bool ref_output = false;
  bool any_ref_source = false;  // some producer of an input may hand over a reference
  // Enter
  int child_frame = 0;
  bool constant = false;
  // argument, result
  int index = 0;
};

struct PlanFrame {
  std::string name;
  int parent = 0;
  int nodes = 0, slots = 0;
  int enters = 0;
  int parallel_iterations = 10;
  std::uint64_t name_hash = 0;
  std::vector<NodeState> initial;  // of its nodes, at the begin of an iteration
};

class Plan {
 public:
  /// Compiles the nodes of a graph. A node without a kernel is an error only when a step reaches it.
  static StatusOr<std::shared_ptr<const Plan>> compile(const Graph& graph, const Registry& registry, KernelCache& cache);

  const std::vector<PlanNode>& nodes() const { return nodes_; }
  const PlanNode& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const std::vector<PlanFrame>& frames() const { return frames_; }
  const std::vector<PlanEdge>& edges() const { return edges_; }
  /// Nodes of the root frame that wait for nothing.
  const std::vector<int>& roots() const { return roots_; }
  int arguments() const { return arguments_; }
  int results() const { return results_; }
  const LibraryPtr& library() const { return library_; }

 private:
  Status assign_frames(const Graph& graph);
  void lay_out_slots();
  void lay_out_edges(const Graph& graph);

  std::vector<PlanNode> nodes_;
  std::vector<PlanFrame> frames_;
  std::vector<PlanEdge> edges_;
  std::vector<int> roots_;
  int arguments_ = 0, results_ = 0;
  LibraryPtr library_;
};

/// How TensorFlow joins hashes: frames get their numbers on the wire from it.
std::uint64_t combine_hashes(std::uint64_t a, std::uint64_t b);

}  // namespace troupe
