// Compilation of a graph to a plan.
#include <troupe/devices/plan.hpp>

#include <troupe/devices/constants.hpp>
#include <troupe/devices/costs.hpp>
#include <troupe/devices/frame.hpp>
#include <troupe/devices/fused.hpp>
#include <troupe/devices/fusion.hpp>
#include <troupe/devices/wiring.hpp>
#include <troupe/ops/lowering.hpp>

namespace troupe {
namespace {

Flow flow_of(const std::string& op) {
  static const std::unordered_map<std::string, Flow> flows{
      {"NoOp", Flow::no_op},
      {"Switch", Flow::switch_},
      {"RefSwitch", Flow::switch_},
      {"_SwitchN", Flow::switch_n},
      {"Merge", Flow::merge},
      {"RefMerge", Flow::merge},
      {"_XlaMerge", Flow::merge},
      {"Enter", Flow::enter},
      {"RefEnter", Flow::enter},
      {"Exit", Flow::exit},
      {"RefExit", Flow::exit},
      {"NextIteration", Flow::next_iteration},
      {"RefNextIteration", Flow::next_iteration},
      {"LoopCond", Flow::loop_cond},
      {"ControlTrigger", Flow::trigger},
      {"_Arg", Flow::argument},
      {"_Retval", Flow::result},
  };
  auto found = flows.find(op);
  return found == flows.end() ? Flow::kernel : found->second;
}

bool is_transfer(const std::string& op) { return op == "_Send" || op == "_Recv" || op == "_HostSend" || op == "_HostRecv"; }

StatusOr<std::shared_ptr<Kernel>> kernel_for(const Node& node, const Registry& registry, KernelCache& cache) {
  if (node.op->is_stateful())
    if (auto found = cache.find(node.name()); found != cache.end()) return found->second;
  wire::NodeDef def = node.def;
  def.set_device(node.device);
  TRY_ASSIGN(Kernel kernel, registry.bind(def, *node.op, node.signature));
  auto shared = std::make_shared<Kernel>(std::move(kernel));
  if (node.op->is_stateful()) cache[node.name()] = shared;
  return shared;
}

std::string operands_of(const Graph& graph, const Node& node, bool transfer) {
  auto text_of = [&](const char* attr) {
    const auto found = node.def.attr().find(attr);
    return found == node.def.attr().end() ? std::string() : found->second.s();
  };
  if (transfer) return fmt::format("{} @{}", text_of("tensor_name"), text_of("recv_device"));
  std::vector<std::string> names;
  for (const Edge& e : node.inputs)
    names.push_back(e.output == 0 ? graph.node(e.node).name() : fmt::format("{}:{}", graph.node(e.node).name(), e.output));
  for (int control : node.controls) names.push_back("^" + graph.node(control).name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A node that came out of a function is called what it is called there.
void name_in_errors(const Node& node, PlanNode& p) {
  const auto& original = node.def.experimental_debug_info().original_node_names();
  p.said = fmt::format("\n\t [[{{{{node {}}}}}]]", original.empty() ? node.name() : original[0]);
  const auto callers = node.def.attr().find(callers_attr);
  if (callers == node.def.attr().end()) return;
  for (std::string_view caller : callers->second.list().s()) {
    const bool indents = caller.starts_with('(') && caller.ends_with(')');
    if (indents) p.indent += 2;
    p.said += fmt::format("\n\t [[{}]]", indents ? caller.substr(1, caller.size() - 2) : caller);
  }
}

PlanNode describe(const Graph& graph, const Node& node) {
  PlanNode p;
  p.facts = NodeFacts{node.name(), node.kind(), node.device};
  p.flow = flow_of(node.kind());
  p.transfer = is_transfer(node.kind());
  if (const auto told = node.def.attr().find("client_terminated"); p.transfer && told != node.def.attr().end()) p.with_client = told->second.b();
  p.fetches = p.with_client && node.kind() != "_Recv" && node.kind() != "_HostRecv";
  p.operands = operands_of(graph, node, p.transfer);
  name_in_errors(node, p);
  if (p.transfer && !node.signature.outputs.empty()) p.declared = node.signature.outputs[0];
  p.allows_uninitialized = node.op->allows_uninitialized_input();
  p.inputs = static_cast<int>(node.inputs.size());
  p.outputs = static_cast<int>(node.signature.outputs.size());
  for (int i = 0; i < p.inputs && i < 64; ++i)
    if (is_ref(node.signature.inputs[static_cast<std::size_t>(i)])) p.ref_inputs |= std::uint64_t{1} << i;
  p.ref_output = p.outputs > 0 && is_ref(node.signature.outputs[0]);
  auto index = node.def.attr().find("index");
  p.index = index == node.def.attr().end() ? 0 : static_cast<int>(index->second.i());
  auto constant = node.def.attr().find("is_constant");
  p.constant = constant != node.def.attr().end() && constant->second.b();
  return p;
}

/// In TensorFlow the outputs of these share the memory of their input.
bool shares_memory(const PlanNode& p) {
  switch (p.flow) {
    case Flow::switch_:
    case Flow::merge:
    case Flow::enter:
    case Flow::exit:
    case Flow::next_iteration: return true;
    default: return p.facts.op == "Identity";
  }
}

/// Programs rely on it that what was read of a variable shows the updates that their control edges put before its use (the
/// tokens of SyncReplicasOptimizer). So a reference goes on through such nodes, and is read where the value is used.
void pass_references_on(std::vector<PlanNode>& nodes, const std::vector<PlanEdge>& edges) {
  std::vector<std::size_t> passing;
  const auto consider = [&](std::size_t i) {
    if (PlanNode& p = nodes[i]; p.any_ref_source && p.ref_inputs == 0 && shares_memory(p)) {
      p.ref_inputs = p.flow == Flow::merge ? ~std::uint64_t{0} : 1;
      p.ref_output = true;
      passing.push_back(i);
    }
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) consider(i);
  while (!passing.empty()) {
    const PlanNode& p = nodes[passing.back()];
    passing.pop_back();
    for (int e = p.edges_begin; e < p.edges_end; ++e) {
      const PlanEdge& edge = edges[static_cast<std::size_t>(e)];
      if (edge.output < 0) continue;
      nodes[static_cast<std::size_t>(edge.node)].any_ref_source = true;
      consider(static_cast<std::size_t>(edge.node));
    }
  }
}

/// TensorFlow calls a graph invalid when there is no kernel for a node, and unimplemented what a kernel leaves out.
Status as_refused_op(const Status& status) {
  const std::string text = text_of(status);
  return text.starts_with("No OpKernel was registered") ? make_status(Code::kInvalidArgument, text) : status;
}

}  // namespace

Plan::Plan() = default;
Plan::~Plan() = default;

StatusOr<std::shared_ptr<const Plan>> Plan::compile(const Graph& graph, const Registry& registry, KernelCache& cache) {
  auto plan = std::make_shared<Plan>();
  plan->library_ = graph.library();
  TRY(plan->add_nodes(graph, registry, cache));
  TRY_ASSIGN(const Constants constants, Constants::find(graph, plan->nodes_));
  TRY_ASSIGN(const auto order, graph.topological_order());
  const auto references = may_hand_references(graph, plan->nodes_, order);
  plan->wiring_ = wiring_of(graph, plan->nodes_, constants);
  pass_over(plan->wiring_, plan->nodes_, order, references);
  const Fusion fusion = Fusion::find(plan->wiring_, plan->nodes_, order, references);
  fusion.join(plan->wiring_);
  plan->keep_nodes(fusion);
  plan->assign_frames(graph, order);
  plan->lay_out_slots();
  plan->lay_out_edges();
  pass_references_on(plan->nodes_, plan->edges_);
  plan->mark_cuts(graph);
  plan->mark_watches();
  plan->spares_ = std::make_unique<Spares>(plan->frames_);
  plan->costs_ = std::make_unique<Costs>(plan->nodes_.size());
  plan->wiring_ = {};
  plan->places_ = {};
  return std::shared_ptr<const Plan>(std::move(plan));
}

Status Plan::add_nodes(const Graph& graph, const Registry& registry, KernelCache& cache) {
  nodes_.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    PlanNode p = describe(graph, node);
    for (const Edge& e : node.inputs) p.any_ref_source |= is_ref(graph.node(e.node).signature.outputs[static_cast<std::size_t>(e.output)]);
    if (p.flow == Flow::kernel) {
      auto kernel = kernel_for(node, registry, cache);
      // In a function that TensorFlow would run apart a kernel that is missing matters only when the function is called.
      const bool apart = node.def.attr().contains(callers_attr);
      if (kernel.ok()) p.kernel = *std::move(kernel);
      else if (kernel.status().code() == Code::kUnimplemented && apart) p.missing = as_refused_op(kernel.status());
      else if (kernel.status().code() == Code::kUnimplemented)
        return append_text(as_refused_op(kernel.status()), fmt::format("\n\t [[{}]]", node.name()));
      else return append_text(kernel.status(), p.said);
    }
    if (p.flow == Flow::argument) arguments_ = std::max(arguments_, p.index + 1);
    if (p.flow == Flow::result) results_ = std::max(results_, p.index + 1);
    most_outputs_ = std::max(most_outputs_, p.outputs);
    nodes_.push_back(std::move(p));
  }
  return absl::OkStatus();
}

void Plan::keep_nodes(const Fusion& fusion) {
  std::vector<PlanNode> all = std::move(nodes_);
  nodes_.clear();
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    PlanNode& p = all[static_cast<std::size_t>(i)];
    places_.push_back(runs(i) ? static_cast<int>(nodes_.size()) : -1);
    if (runs(i)) nodes_.push_back(fusion.group(i) ? p : std::move(p));
    else if (!fusion.inner(i)) bound_.push_back(std::move(p.facts));
  }
  for (int i = 0; i < static_cast<int>(all.size()); ++i)
    if (fusion.inner(i)) places_[static_cast<std::size_t>(i)] = places_[static_cast<std::size_t>(fusion.root(i))];
  for (const FusedGroup& group : fusion.groups()) fuse(group, all);
}

void Plan::fuse(const FusedGroup& group, std::vector<PlanNode>& all) {
  std::vector<Fused::Member> members;
  bool reads_references = false;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    PlanNode& p = all[static_cast<std::size_t>(group.members[i])];
    reads_references |= p.any_ref_source;
    members.push_back({std::move(p), group.operands[i], {}});
  }
  const auto fused = std::make_shared<const Fused>(std::move(members), group.constants, static_cast<int>(group.inputs.size()));
  PlanNode& root = at(group.members.back());
  root.fused = fused;
  root.kernel = std::make_shared<Kernel>();
  root.kernel->run = [fused](Call& call) { return fused->run(call); };
  root.kernel->ns_per_element = fused->ns_per_element();
  root.inputs = static_cast<int>(group.inputs.size());
  root.any_ref_source = reads_references;
}

bool Plan::crosses() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const PlanNode& p) { return p.transfer && !p.with_client; });
}

}  // namespace troupe
