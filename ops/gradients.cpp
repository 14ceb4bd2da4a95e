// Backpropagation through the body of a function, node by node from its results.
#include <troupe/ops/gradients.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/lowering_graph.hpp>

#include <algorithm>
#include <map>

namespace troupe::gradients {
namespace {

using lowering::int_attr;
using lowering::type_attr;
using lowering::types_attr;

std::size_t index_of(const Node& node) { return static_cast<std::size_t>(node.def.attr().at("index").i()); }

/// Nodes of a kind in the order of their indices.
std::vector<int> numbered(const Graph& graph, const char* kind) {
  std::map<std::size_t, int> found;
  for (int i = 0; i < graph.size(); ++i)
    if (graph.node(i).kind() == kind) found[index_of(graph.node(i))] = i;
  std::vector<int> nodes;
  for (const auto& [index, node] : found) nodes.push_back(node);
  return nodes;
}

bool is_differentiable(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::resource:  // a variable: its gradient has the type of its value
    case DType::c128: return true;
    default: return false;
  }
}

/// Arguments, what acts on the world, and whatever these results come from.
std::vector<bool> needed_for(const Graph& graph, const std::vector<Edge>& results) {
  std::vector<bool> needed(graph.nodes().size(), false);
  std::vector<int> open;
  for (const Edge& e : results) open.push_back(e.node);
  for (int i = 0; i < graph.size(); ++i)
    if (graph.node(i).kind() == "_Arg" || (graph.node(i).op->is_stateful() && graph.node(i).kind() != "_Retval")) open.push_back(i);
  while (!open.empty()) {
    const auto at = static_cast<std::size_t>(open.back());
    open.pop_back();
    if (needed[at]) continue;
    needed[at] = true;
    for (const Edge& e : graph.nodes()[at].inputs) open.push_back(e.node);
    for (int c : graph.nodes()[at].controls) open.push_back(c);
  }
  return needed;
}

class Backpropagation {
 public:
  explicit Backpropagation(Graph& graph) : builder_(graph) {}

  Status run() {
    Graph& graph = builder_.graph();
    const std::vector<int> arguments = numbered(graph, "_Arg"), results = numbered(graph, "_Retval");
    TRY_ASSIGN(const std::vector<int> order, graph.topological_order());
    std::vector<Edge> ends;
    for (int r : results) ends.push_back(graph.node(r).inputs[0]);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const Edge dy = builder_.add(
          "_Arg", {}, {{"T", type_attr(builder_.type_of(ends[i]))}, {"index", int_attr(static_cast<std::int64_t>(arguments.size() + i))}});
      pass(ends[i], dy);
    }
    for (auto at = order.rbegin(); at != order.rend(); ++at)
      if (graph.node(*at).kind() != "_Arg" && graph.node(*at).kind() != "_Retval") TRY(through(*at));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Edge x{arguments[i], 0};
      const auto found = gradients_.find({x.node, 0});
      const Edge dx = found == gradients_.end() ? builder_.zeros_like(x) : builder_.sum(found->second);
      gradients_of_arguments_.push_back(dx);
    }
    return builder_.status();
  }

  const std::vector<Edge>& results() const { return gradients_of_arguments_; }

 private:
  void pass(const Edge& to, const Edge& gradient) {
    if (gradient.node >= 0) gradients_[{to.node, to.output}].push_back(gradient);
  }

  Status through(int at) {
    const Node node = builder_.graph().node(at);
    Turn turn{builder_, node, at, {}};
    bool any = false;
    const int outputs = static_cast<int>(node.signature.outputs.size());
    for (int i = 0; i < outputs; ++i) any = any || gradients_.contains({at, i});
    if (!any || node.inputs.empty()) return absl::OkStatus();
    const Rule* rule = find_rule(node.kind());
    if (!rule) return not_found("No gradient defined for op: {}", node.kind());
    if (!*rule) return absl::OkStatus();
    for (int i = 0; i < outputs; ++i) {
      const auto found = gradients_.find({at, i});
      turn.dy.push_back(found == gradients_.end() ? builder_.zeros_like({at, i}) : builder_.sum(found->second));
    }
    const std::vector<Edge> dx = (*rule)(turn);
    TRY(builder_.status());
    for (std::size_t i = 0; i < dx.size() && i < node.inputs.size(); ++i)
      if (is_differentiable(node.signature.inputs[i])) pass(node.inputs[i], dx[i]);
    return absl::OkStatus();
  }

  Builder builder_;
  std::map<std::pair<int, int>, std::vector<Edge>> gradients_;
  std::vector<Edge> gradients_of_arguments_;
};

}  // namespace

Edge Builder::add(const char* op, std::vector<Edge> inputs, const Attrs& attrs) {
  if (!status_.ok() || std::any_of(inputs.begin(), inputs.end(), [](const Edge& e) { return e.node < 0; })) return nothing;
  wire::NodeDef def;
  def.set_op(op);
  def.set_name(graph_.unique_name(fmt::format("gradient/{}", op[0] == '_' ? op + 1 : op)));
  for (const auto& [name, value] : attrs) (*def.mutable_attr())[name] = value;
  auto added = graph_.add(std::move(def), std::move(inputs), {}, "");
  if (added.ok()) return {*added, 0};
  status_ = added.status();
  return nothing;
}

Edge Builder::on(const char* op, std::vector<Edge> inputs, Attrs attrs) {
  if (inputs.empty() || inputs[0].node < 0) return nothing;
  attrs.emplace_back("T", type_attr(type_of(inputs[0])));
  return add(op, std::move(inputs), attrs);
}

Edge Builder::constant(double value, DType dtype) {
  wire::AttrValue tensor;
  to_proto(Tensor::scalar<float>(static_cast<float>(value)), tensor.mutable_tensor());
  const Edge one = add("Const", {}, {{"dtype", type_attr(DType::f32)}, {"value", tensor}});
  return dtype == DType::f32 ? one : add("Cast", {one}, {{"SrcT", type_attr(DType::f32)}, {"DstT", type_attr(dtype)}});
}

Edge Builder::integers(const std::vector<std::int32_t>& values) {
  wire::AttrValue tensor;
  to_proto(Tensor::vector<std::int32_t>(values), tensor.mutable_tensor());
  return add("Const", {}, {{"dtype", type_attr(DType::i32)}, {"value", tensor}});
}

Edge Builder::unbroadcast(const Edge& gradient, const Edge& x, const Edge& other) {
  const Edge axes = on("BroadcastGradientArgs", {shape(x), shape(other)});
  return on("Reshape", {on("Sum", {gradient, axes}), shape(x)});
}

Edge Builder::sum(const std::vector<Edge>& gradients) {
  return gradients.size() == 1 ? gradients[0] : on("AddN", gradients, {{"N", int_attr(static_cast<std::int64_t>(gradients.size()))}});
}

StatusOr<Graph> differentiate(const Graph& body) {
  Graph graph = body;
  Backpropagation back(graph);
  TRY(back.run());
  // The results of the function give way to those of its gradient, which may not need all that led to them.
  wire::GraphDef def = graph.to_graph_def();
  wire::GraphDef kept;
  *kept.mutable_versions() = def.versions();
  const std::vector<bool> needed = needed_for(graph, back.results());
  for (int i = 0; i < graph.size(); ++i)
    if (needed[static_cast<std::size_t>(i)]) *kept.add_node() = std::move(*def.mutable_node(i));
  for (std::size_t i = 0; i < back.results().size(); ++i) {
    const Edge& dx = back.results()[i];
    wire::NodeDef* node = kept.add_node();
    node->set_name(graph.unique_name(fmt::format("gradient/dx_{}", i)));
    node->set_op("_Retval");
    node->add_input(fmt::format("{}:{}", graph.node(dx.node).name(), dx.output));
    (*node->mutable_attr())["T"] = type_attr(graph.node(dx.node).signature.outputs[static_cast<std::size_t>(dx.output)]);
    (*node->mutable_attr())["index"] = int_attr(static_cast<std::int64_t>(i));
  }
  return Graph::from(kept, graph.library());
}

}  // namespace troupe::gradients
