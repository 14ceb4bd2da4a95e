// Compilation of a graph to a plan.
#include <troupe/devices/plan.hpp>

#include <troupe/messaging/hash64.hpp>

#include <map>

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

std::int64_t int_attr(const wire::NodeDef& def, const char* name) {
  auto found = def.attr().find(name);
  return found == def.attr().end() ? 0 : found->second.i();
}

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

PlanNode describe(const Node& node) {
  PlanNode p;
  p.facts = NodeFacts{node.name(), node.kind(), node.device};
  p.flow = flow_of(node.kind());
  p.transfer = is_transfer(node.kind());
  p.allows_uninitialized = node.op->allows_uninitialized_input();
  p.inputs = static_cast<int>(node.inputs.size());
  p.outputs = static_cast<int>(node.signature.outputs.size());
  p.controls = static_cast<int>(node.controls.size());
  for (int i = 0; i < p.inputs && i < 64; ++i)
    if (is_ref(node.signature.inputs[static_cast<std::size_t>(i)])) p.ref_inputs |= std::uint64_t{1} << i;
  p.ref_output = p.outputs > 0 && is_ref(node.signature.outputs[0]);
  p.index = static_cast<int>(int_attr(node.def, "index"));
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

}  // namespace

/// TensorFlow calls a graph invalid when there is no kernel for a node, and unimplemented what a kernel leaves out.
static Status as_refused_op(const Status& status) {
  const std::string text = text_of(status);
  return text.starts_with("No OpKernel was registered") ? make_status(Code::kInvalidArgument, text) : status;
}

std::uint64_t combine_hashes(std::uint64_t a, std::uint64_t b) { return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4)); }

StatusOr<std::shared_ptr<const Plan>> Plan::compile(const Graph& graph, const Registry& registry, KernelCache& cache) {
  auto plan = std::make_shared<Plan>();
  plan->library_ = graph.library();
  plan->nodes_.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    PlanNode p = describe(node);
    for (const Edge& e : node.inputs) p.any_ref_source |= is_ref(graph.node(e.node).signature.outputs[static_cast<std::size_t>(e.output)]);
    if (p.flow == Flow::kernel) {
      auto kernel = kernel_for(node, registry, cache);
      // A kernel that is missing matters only to the step that needs it; one that refuses its attributes is refused now.
      if (kernel.ok()) p.kernel = *std::move(kernel);
      else if (kernel.status().code() == Code::kUnimplemented) p.missing = as_refused_op(kernel.status());
      else return append_text(kernel.status(), fmt::format("\n\t [[{{{{node {}}}}}]]", node.name()));
    }
    if (p.flow == Flow::argument) plan->arguments_ = std::max(plan->arguments_, p.index + 1);
    if (p.flow == Flow::result) plan->results_ = std::max(plan->results_, p.index + 1);
    plan->nodes_.push_back(std::move(p));
  }
  TRY(plan->assign_frames(graph));
  plan->lay_out_slots();
  plan->lay_out_edges(graph);
  pass_references_on(plan->nodes_, plan->edges_);
  return std::shared_ptr<const Plan>(std::move(plan));
}

Status Plan::assign_frames(const Graph& graph) {
  frames_.push_back(PlanFrame{});
  std::map<std::pair<int, std::string>, int> known;
  TRY_ASSIGN(const auto order, graph.topological_order());
  std::vector<int> frame_of_outputs(nodes_.size(), 0);
  for (int i : order) {
    PlanNode& p = nodes_[static_cast<std::size_t>(i)];
    const Node& node = graph.node(i);
    int frame = 0;
    auto consider = [&](int source) {
      if (nodes_[static_cast<std::size_t>(source)].flow == Flow::next_iteration) return;
      frame = std::max(frame, frame_of_outputs[static_cast<std::size_t>(source)]);
    };
    for (const Edge& e : node.inputs) consider(e.node);
    for (int c : node.controls) consider(c);
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
        f.parallel_iterations = static_cast<int>(std::max<std::int64_t>(1, int_attr(node.def, "parallel_iterations")));
        frames_.push_back(std::move(f));
      }
      p.child_frame = at->second;
      frames_[static_cast<std::size_t>(at->second)].enters += 1;
      frame_of_outputs[static_cast<std::size_t>(i)] = at->second;
    }
  }
  return absl::OkStatus();
}

void Plan::lay_out_slots() {
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    PlanNode& p = nodes_[static_cast<std::size_t>(i)];
    PlanFrame& f = frames_[static_cast<std::size_t>(p.frame)];
    p.local = f.nodes++;
    p.slots = f.slots;
    f.slots += p.inputs;
    f.initial.push_back({p.flow == Flow::merge ? 1 + 2 * p.controls : p.inputs + p.controls, 0});
    if (p.inputs == 0 && p.controls == 0) roots_.push_back(i);
  }
}

void Plan::lay_out_edges(const Graph& graph) {
  std::vector<std::vector<PlanEdge>> out(nodes_.size());
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    for (int k = 0; k < static_cast<int>(node.inputs.size()); ++k) {
      const Edge& e = node.inputs[static_cast<std::size_t>(k)];
      out[static_cast<std::size_t>(e.node)].push_back({e.output, i, k, false});
    }
    for (int c : node.controls) out[static_cast<std::size_t>(c)].push_back({-1, i, 0, false});
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
