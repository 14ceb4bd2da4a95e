// Finding and leaving out of values that nobody reads.
#include <troupe/actors/plan/unread.hpp>

#include <troupe/ops/definitions.hpp>

#include <algorithm>
#include <set>

namespace troupe {
namespace {

/// The least size of a graph that TensorFlow thinks worth optimising.
constexpr int least_graph = 4;

/// Steers values: what an output of these means is lost when it is only waited for.
bool steers(const Node& node) {
  static const std::set<std::string> ops{"Switch",   "RefSwitch", "_SwitchN", "Merge",    "RefMerge",      "Enter",
                                         "RefEnter", "Exit",      "RefExit",  "LoopCond", "NextIteration", "RefNextIteration"};
  return ops.contains(node.kind());
}

bool has_effect(const Node& node) {
  // An uninitialised variable that nobody looks at may be gathered from.
  if (node.kind() == "ResourceGather") return false;
  static const std::set<std::string> told{"CheckNumerics", "CheckNumericsV2", "Placeholder", "PlaceholderV2", "ParallelConcat"};
  if (node.op->is_stateful() || told.contains(node.kind()) || node.kind().starts_with('_') || node.kind().starts_with("Inplace")) return true;
  const auto held = [](DType type) { return is_ref(type) || type == DType::resource || type == DType::variant; };
  return std::any_of(node.signature.inputs.begin(), node.signature.inputs.end(), held) ||
         std::any_of(node.signature.outputs.begin(), node.signature.outputs.end(), held);
}

void make_no_op(Node& node) {
  wire::NodeDef def;
  def.set_name(node.name());
  def.set_op("NoOp");
  def.set_device(node.def.device());
  for (const Edge& e : node.inputs) node.controls.push_back(e.node);
  std::sort(node.controls.begin(), node.controls.end());
  node.controls.erase(std::unique(node.controls.begin(), node.controls.end()), node.controls.end());
  node.inputs.clear();
  node.signature = Signature();
  node.op = find_op("NoOp");
  node.def = std::move(def);
}

}  // namespace

bool leaves_out_unread(const wire::RewriterConfig& wishes, int graph_size) {
  if (wishes.disable_meta_optimizer()) return false;
  if (graph_size < (wishes.min_graph_nodes() == 0 ? least_graph : wishes.min_graph_nodes())) return false;
  if (wishes.optimizers_size() > 0)
    return std::find(wishes.optimizers().begin(), wishes.optimizers().end(), "dependency") != wishes.optimizers().end();
  return wishes.dependency_optimization() != wire::RewriterConfig::OFF;
}

void leave_out_unread(Graph& step, const std::vector<std::string>& targets) {
  const auto order = step.topological_order();
  if (!order.ok()) return;
  std::vector<int> readers(step.nodes().size(), 0);
  for (const Node& node : step.nodes())
    for (const Edge& e : node.inputs) ++readers[static_cast<std::size_t>(e.node)];
  const std::set<std::string> asked(targets.begin(), targets.end());
  // Readers come before what they read, so that one pass is enough.
  for (auto at = order->rbegin(); at != order->rend(); ++at) {
    Node& node = step.node(*at);
    if (readers[static_cast<std::size_t>(*at)] > 0 || node.signature.outputs.empty() || steers(node) || has_effect(node)) continue;
    if (asked.contains(node.name())) continue;
    if (std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Edge& e) { return steers(step.node(e.node)); })) continue;
    for (const Edge& e : node.inputs) --readers[static_cast<std::size_t>(e.node)];
    make_no_op(node);
  }
}

}  // namespace troupe
