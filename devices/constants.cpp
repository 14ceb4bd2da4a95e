// Finding of constants, and evaluation of what depends on constants only.
#include <troupe/devices/constants.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

// Larger results would be held for the life of the plan, and longer work would hold up who registers the graph.
constexpr std::size_t largest_result = 64 * 1024;
constexpr float longest_work_ns = 500'000;
// With more of them a constant stays a node: each of its consumers would have to wait for all.
constexpr std::size_t most_controls = 2;

/// The step of kernels that ask nothing of it.
class NoStep final : public Step {
 public:
  void call_function(const wire::NameAttrList& function, std::vector<Tensor>, FunctionDone done) override {
    done(internal("{} cannot be called without a step", function.name()));
  }
};

bool is_plain(DType dtype) { return dtype != DType::resource && dtype != DType::variant && !is_ref(dtype); }

/// Ops that are not declared stateful, and draw all the same.
bool draws(const std::string& op) { return op == "ExtractGlimpse" || op == "ExtractGlimpseV2"; }

bool is_pure(const Node& node, const PlanNode& p) {
  if (p.flow != Flow::kernel || !p.kernel || !p.kernel->run || p.kernel->place != Place::anywhere) return false;
  if (node.op->is_stateful() || p.transfer || p.outputs == 0 || draws(p.facts.op)) return false;
  const auto& types = node.signature;
  return std::all_of(types.inputs.begin(), types.inputs.end(), is_plain) && std::all_of(types.outputs.begin(), types.outputs.end(), is_plain);
}

bool is_short(const PlanNode& p, const std::vector<Value>& inputs) {
  std::int64_t elements = 0;
  for (const Value& v : inputs) elements += v.tensor.size();
  return static_cast<float>(elements) * p.kernel->ns_per_element < longest_work_ns;
}

/// Nothing where the kernel fails: the step that needs it shall say so.
std::optional<std::vector<Tensor>> evaluate(const PlanNode& p, std::vector<Value> inputs) {
  std::vector<Value> outputs(static_cast<std::size_t>(p.outputs));
  NoStep step;
  try {
    // A Const has its value already.
    std::optional<AllocationLimit> limit;
    if (p.inputs > 0) limit.emplace(largest_result);
    Call call(p.facts, inputs, outputs, step, Tag{});
    if (!p.kernel->run(call).ok()) return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
  std::vector<Tensor> values;
  for (Value& v : outputs) {
    if (!v.tensor.valid() || v.ref || v.dead) return std::nullopt;
    values.push_back(std::move(v.tensor));
  }
  return values;
}

void add_new(std::vector<int>& to, int node) {
  if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
}

}  // namespace

StatusOr<Constants> Constants::find(const Graph& graph, const std::vector<PlanNode>& nodes) {
  Constants found;
  const auto size = nodes.size();
  found.known_.resize(size);
  found.controls_.resize(size);
  found.merges_.resize(size);
  for (std::size_t i = 0; i < size; ++i) found.merges_[i] = nodes[i].flow == Flow::merge;
  TRY_ASSIGN(const auto order, graph.topological_order());
  for (int i : order) found.consider(graph, nodes, i);
  found.keep_what_is_needed(graph, nodes, order);
  found.join_controls(graph);
  return found;
}

std::vector<int> Constants::sources(const Graph& graph, int i) const {
  const Node& node = graph.node(i);
  std::vector<int> all = node.controls;
  for (const Edge& e : node.inputs) all.push_back(e.node);
  return all;
}

void Constants::consider(const Graph& graph, const std::vector<PlanNode>& nodes, int i) {
  const Node& node = graph.node(i);
  const PlanNode& p = nodes[static_cast<std::size_t>(i)];
  if (!is_pure(node, p)) return;
  Known known;
  std::vector<Value> inputs;
  for (const Edge& e : node.inputs) {
    const auto& source = known_[static_cast<std::size_t>(e.node)];
    if (!source) return;
    inputs.emplace_back(source->values[static_cast<std::size_t>(e.output)]);
  }
  for (int s : sources(graph, i)) {
    if (const auto& source = known_[static_cast<std::size_t>(s)]) {
      for (int a : source->after) add_new(known.after, a);
    } else {
      if (nodes[static_cast<std::size_t>(s)].flow == Flow::next_iteration) return;
      add_new(known.after, s);
    }
  }
  if (known.after.size() > most_controls || !is_short(p, inputs)) return;
  auto values = evaluate(p, std::move(inputs));
  if (!values) return;
  known.values = *std::move(values);
  known_[static_cast<std::size_t>(i)] = std::move(known);
}

bool Constants::takes_preset(const PlanNode& p, int input) const { return p.flow != Flow::merge && input < 64; }

/// Consumers come after their sources; what only NextIteration reaches is never a constant.
void Constants::keep_what_is_needed(const Graph& graph, const std::vector<PlanNode>& nodes, const std::vector<int>& order) {
  kept_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) kept_[i] = !known_[i];
  const auto need_sources = [&](int i) {
    const Node& node = graph.node(i);
    for (int k = 0; k < static_cast<int>(node.inputs.size()); ++k)
      if (!takes_preset(nodes[static_cast<std::size_t>(i)], k)) kept_[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(k)].node)] = true;
  };
  for (auto i = order.rbegin(); i != order.rend(); ++i)
    if (kept_[static_cast<std::size_t>(*i)]) need_sources(*i);
}

const Tensor* Constants::at(const Graph& graph, int node, int input) const {
  if (merges_[static_cast<std::size_t>(node)] || input >= 64) return nullptr;
  const Edge& e = graph.node(node).inputs[static_cast<std::size_t>(input)];
  const auto& source = known_[static_cast<std::size_t>(e.node)];
  return source ? &source->values[static_cast<std::size_t>(e.output)] : nullptr;
}

void Constants::join_controls(const Graph& graph) {
  // Who is a source of the node at hand already; marks of other nodes do not count.
  std::vector<int> data(known_.size(), -1), control(known_.size(), -1);
  for (int i = 0; i < graph.size(); ++i) {
    if (!kept_[static_cast<std::size_t>(i)]) continue;
    const Node& node = graph.node(i);
    std::vector<int>& joined = controls_[static_cast<std::size_t>(i)];
    const auto wait_for = [&](int source) {
      if (std::exchange(control[static_cast<std::size_t>(source)], i) != i) joined.push_back(source);
    };
    const auto wait_for_constant = [&](int source) {
      // A value says all that a control edge beside it would; a Merge counts them apart.
      for (int a : known_[static_cast<std::size_t>(source)]->after)
        if (merges_[static_cast<std::size_t>(i)] || data[static_cast<std::size_t>(a)] != i) wait_for(a);
    };
    for (int k = 0; k < static_cast<int>(node.inputs.size()); ++k)
      if (!at(graph, i, k)) data[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(k)].node)] = i;
    for (int c : node.controls) {
      if (!bound(c)) wait_for(c);
      else wait_for_constant(c);
    }
    for (int k = 0; k < static_cast<int>(node.inputs.size()); ++k)
      if (at(graph, i, k)) wait_for_constant(node.inputs[static_cast<std::size_t>(k)].node);
  }
}

}  // namespace troupe
