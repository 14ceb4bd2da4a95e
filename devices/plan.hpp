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

class Costs;
class Fused;
class Fusion;
struct FusedGroup;
class Spares;
struct Wiring;

/// Kernels that keep state live as long as their session, whatever plans mention their node.
using KernelCache = std::unordered_map<std::string, std::shared_ptr<Kernel>>;

/// Ops that steer the flow of values are the executor's own; all others have a kernel.
enum class Flow : std::uint8_t { kernel, no_op, switch_, switch_n, merge, enter, exit, next_iteration, loop_cond, trigger, argument, result };

/// How a node takes part in what is shared between steps and saved: see cuts.hpp.
enum class Touch : std::uint8_t { none, update, read, read_of_references };

/// What a node tells the metrics: see staleness.hpp.
enum class Watch : std::uint8_t { none, read, update, gradient, wait };

struct PlanEdge {
  int output;  // -1: control
  int node;
  int local;         // the node's place among those of its frame
  int slot;          // where the value goes among the slots of that frame
  bool last : 1;     // no later edge carries this output: the value may move
  bool merge : 1;    // the node is a Merge
  bool trigger : 1;  // the node runs whatever died before it
  bool leaves : 1;   // the node is an Exit that waits for nothing else
};

/// What a node still waits for. A Merge counts its control inputs twice and keeps bit 0 until a live value came.
struct NodeState {
  int pending = 0;
  int dead = 0;
};

struct PlanNode {
  std::shared_ptr<Kernel> kernel;      // null where the flow is the executor's own, or where no kernel exists
  std::shared_ptr<const Fused> fused;  // what the kernel runs, where it stands for several nodes
  int slots = 0;                       // where its inputs begin in its frame's slots
  int inputs = 0, outputs = 0;
  int edges_begin = 0, edges_end = 0;
  Flow flow = Flow::kernel;
  Touch touch = Touch::none;
  Watch watch = Watch::none;
  bool transfer = false;     // Send and Recv see dead inputs
  bool with_client = false;  // of those, the ones whose other end is the client
  bool fetches = false;      // sends to the client
  bool allows_uninitialized = false;
  bool ref_output = false;
  bool any_ref_source = false;   // some producer of an input may hand over a reference
  bool constant = false;         // Enter: the same in all iterations
  std::uint64_t presets = 0;     // bit i: input i is a constant that is always in its slot
  std::uint64_t ref_inputs = 0;  // bit i: input i wants the reference itself (the first 64 inputs)
  int frame = 0;                 // static frame; 0 is the root
  int local = 0;                 // place among the nodes of its frame
  int controls = 0;
  int child_frame = 0;  // Enter
  int index = 0;        // argument, result
  NodeFacts facts;
  std::string operands;  // as records of a step show them
  std::string said;      // how errors name the node, and those of its callers that they mention
  int indent = 0;        // of such errors
  DType declared{};      // of what a Recv gets
  Status missing;        // why there is no kernel; given when a step needs the node
};

/// A constant and the slot that it never leaves.
struct Preset {
  int slot;
  Tensor value;
};

struct PlanFrame {
  std::string name;
  int parent = 0;
  int nodes = 0, slots = 0;
  int enters = 0;
  int parallel_iterations = 10;
  std::uint64_t name_hash = 0;
  std::vector<NodeState> initial;  // of its nodes, at the begin of an iteration
  std::vector<Preset> presets;     // in order of their slots
};

/// Immutable but for its spares and costs, which belong to the device's actor that runs it.
class Plan {
 public:
  Plan();
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Compiles the nodes of a graph. A node without a kernel is an error. Constants, and what pure
  /// kernels make of constants, are values in the slots of their consumers, not nodes; nodes that hand on
  /// their input are passed over. Element-wise nodes that only make values for each other are one node.
  static StatusOr<std::shared_ptr<const Plan>> compile(const Graph& graph, const Registry& registry, KernelCache& cache);

  const std::vector<PlanNode>& nodes() const { return nodes_; }
  const PlanNode& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const std::vector<PlanFrame>& frames() const { return frames_; }
  const std::vector<PlanEdge>& edges() const { return edges_; }
  /// Nodes of the root frame that wait for nothing.
  const std::vector<int>& roots() const { return roots_; }
  /// Nodes that need not run: values, and what only hands on.
  const std::vector<NodeFacts>& bound() const { return bound_; }
  /// Nodes that write a checkpoint, or send to one that does.
  const std::vector<int>& saves() const { return saves_; }
  int arguments() const { return arguments_; }
  int results() const { return results_; }
  int most_outputs() const { return most_outputs_; }
  /// Some of its tensors go to another device or come from there.
  bool crosses() const;
  const LibraryPtr& library() const { return library_; }
  Spares& spares() const { return *spares_; }
  Costs& costs() const { return *costs_; }

 private:
  Status add_nodes(const Graph& graph, const Registry& registry, KernelCache& cache);
  void keep_nodes(const Fusion& fusion);
  void fuse(const FusedGroup& group, std::vector<PlanNode>& all);
  void assign_frames(const Graph& graph, const std::vector<int>& order);
  void lay_out_slots();
  void lay_out_edges();
  bool runs(int graph_node) const;
  bool placed(int graph_node) const { return places_[static_cast<std::size_t>(graph_node)] >= 0; }
  PlanNode& at(int graph_node) { return nodes_[static_cast<std::size_t>(places_[static_cast<std::size_t>(graph_node)])]; }
  void mark_cuts(const Graph& graph);
  void mark_watches();

  std::vector<PlanNode> nodes_;
  std::vector<PlanFrame> frames_;
  std::vector<PlanEdge> edges_;
  std::vector<int> roots_, saves_;
  std::vector<NodeFacts> bound_;
  // While compiling, of the graph's nodes:
  std::vector<int> places_;  // -1 of one that does not run; the group's where fused
  std::vector<Wiring> wiring_;
  int arguments_ = 0, results_ = 0, most_outputs_ = 0;
  LibraryPtr library_;
  std::unique_ptr<Spares> spares_;
  std::unique_ptr<Costs> costs_;
};

bool is_save(const std::string& op);
/// A Send with this attribute carries what a checkpoint on another device gets.
inline constexpr const char* saved_attr = "_saved";

/// How TensorFlow joins hashes: frames get their numbers on the wire from it.
std::uint64_t combine_hashes(std::uint64_t a, std::uint64_t b);

}  // namespace troupe
