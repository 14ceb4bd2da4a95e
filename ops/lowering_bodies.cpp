// Function bodies: made once, put in wherever they are called.
#include <troupe/ops/function_body.hpp>
#include <troupe/ops/gradients.hpp>
#include <troupe/ops/lowering.hpp>
#include <troupe/ops/lowering_graph.hpp>

#include <algorithm>

namespace troupe::lowering {
namespace {

std::size_t index_of(const Node& node) { return static_cast<std::size_t>(node.def.attr().at("index").i()); }

std::string key_of(const wire::NameAttrList& function) {
  std::map<std::string, std::string> attrs;
  for (const auto& [name, value] : function.attr()) attrs[name] = value.SerializeAsString();
  std::string key = function.name();
  for (const auto& [name, value] : attrs) key += fmt::format("|{}={}", name, value);
  return key;
}

/// The body of a function, or of what its gradient is.
StatusOr<Graph> make_graph(const wire::FunctionDef& function, const wire::NameAttrList& call, const LibraryPtr& library, bool gradient) {
  TRY_ASSIGN(Graph graph, instantiate(function, call.attr(), library));
  if (!gradient) return graph;
  // A function may ask for its own gradient.
  thread_local int depth = 0;
  if (depth > 32) return invalid("The gradient of function {} needs gradients that are nested too deeply", call.name());
  ++depth;
  const Status lowered = lower_functions(graph, Callers::passed_by);
  --depth;
  TRY(lowered);
  return gradients::differentiate(graph);
}

StatusOr<Body> make_body(const wire::FunctionDef& function, const wire::NameAttrList& call, const LibraryPtr& library, bool gradient) {
  TRY_ASSIGN(Graph graph, make_graph(function, call, library, gradient));
  Body body{std::move(graph), {}, {}, {}};
  body.steered = find_steered(body.graph);
  for (int i = 0; i < body.graph.size(); ++i) {
    const Node& node = body.graph.node(i);
    if (node.kind() != "_Retval") continue;
    body.results.resize(std::max(body.results.size(), index_of(node) + 1));
    body.results[index_of(node)] = node.inputs[0];
  }
  for (const std::string& name : control_results(function))
    if (const int i = body.graph.find(name); i >= 0) body.done.push_back(i);
  // Functions from before control results promise no more than that what they do to the world is done; what may be dead cannot be awaited.
  if (function.control_ret().empty())
    for (int i = 0; i < body.graph.size(); ++i) {
      const Node& node = body.graph.node(i);
      const bool edge_of_body = node.kind() == "_Arg" || node.kind() == "_Retval";
      if (!node.op->is_stateful() || edge_of_body) continue;
      body.promises_effects = false;
      if (!body.steered[static_cast<std::size_t>(i)]) body.done.push_back(i);
    }
  return body;
}

std::string listed(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType t : types) names.push_back(name_of(without_ref(t)));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

Status check_types(const Body& body, const std::string& name, const std::vector<DType>& arguments, const std::vector<DType>& results) {
  for (const Node& node : body.graph.nodes()) {
    if (node.kind() != "_Arg") continue;
    if (index_of(node) >= arguments.size()) return invalid("Function {} wants more arguments than {}", name, listed(arguments));
    if (without_ref(arguments[index_of(node)]) != node.signature.outputs[0])
      return invalid("Argument {} of function {} is {}, not one of {}", index_of(node), name, name_of(node.signature.outputs[0]), listed(arguments));
  }
  if (body.results.size() != results.size()) return invalid("Function {} has {} results, not {}", name, body.results.size(), listed(results));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Edge& e = body.results[i];
    const DType type = without_ref(body.graph.node(e.node).signature.outputs[static_cast<std::size_t>(e.output)]);
    if (type != without_ref(results[i])) return invalid("Result {} of function {} is {}, not one of {}", i, name, name_of(type), listed(results));
  }
  return absl::OkStatus();
}

bool takes_handle(const Node& node) {
  return std::find(node.signature.inputs.begin(), node.signature.inputs.end(), DType::resource) != node.signature.inputs.end();
}

/// One body on its way into the graph.
class Insertion {
 public:
  Insertion(Editor& editor, const Body& body, const Site& site)
      : editor_(editor), body_(body), site_(site), moved_(body.graph.nodes().size(), -1), arguments_(body.graph.nodes().size(), Edge{}) {}

  StatusOr<Inlined> run(const std::function<int(Node, bool)>& append) {
    for (int i = 0; i < body_.graph.size(); ++i) {
      const Node& node = body_.graph.node(i);
      if (node.kind() == "_Arg") TRY(take_argument(i));
      else if (node.kind() != "_Retval") moved_[static_cast<std::size_t>(i)] = append(copy_of(node), body_.steered[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < body_.graph.size(); ++i)
      if (moved_[static_cast<std::size_t>(i)] >= 0) TRY(connect(i));
    Inlined out;
    for (const Edge& e : body_.results) out.results.push_back(moved(e));
    for (int i : body_.done) {
      TRY_ASSIGN(const int done, control(i));
      out.done.push_back(done);
    }
    return out;
  }

 private:
  Status take_argument(int i) {
    const Node& node = body_.graph.node(i);
    Edge& edge = arguments_[static_cast<std::size_t>(i)];
    edge = site_.arguments[index_of(node)];
    // A reference is read once for all of the body.
    const Node& source = editor_.node(edge.node);
    const bool reference = is_ref(source.signature.outputs[static_cast<std::size_t>(edge.output)]);
    if (!reference && !(site_.gate_arguments && site_.gate >= 0)) return absl::OkStatus();
    return anchor(i);
  }

  /// Turns an argument into a node of its own.
  Status anchor(int i) {
    std::vector<int> controls;
    if (site_.gate_arguments && site_.gate >= 0) controls.push_back(site_.gate);
    Edge& edge = arguments_[static_cast<std::size_t>(i)];
    TRY_ASSIGN(
        edge, editor_.add_on("Identity", fmt::format("{}/{}", site_.prefix, body_.graph.node(i).name()), edge, controls, site_.where, site_.steered));
    anchors_[i] = edge.node;
    return absl::OkStatus();
  }

  Node copy_of(const Node& original) {
    Node node = original;
    node.def.set_name(fmt::format("{}/{}", site_.prefix, original.name()));
    node.device.clear();
    // Errors say what a node is called in its function.
    auto* info = node.def.mutable_experimental_debug_info();
    if (info->original_node_names().empty()) info->add_original_node_names(original.name());
    if (!site_.callers.empty())
      for (const auto& caller : site_.callers) (*node.def.mutable_attr())[callers_attr].mutable_list()->add_s(caller);
    // Who takes a handle is placed where the resource is.
    if (!original.def.device().empty() || !takes_handle(original)) node.def.set_device(merged(original.def.device(), site_.where));
    auto& attrs = *node.def.mutable_attr();
    if (auto frame = attrs.find("frame_name"); frame != attrs.end() && (node.kind() == "Enter" || node.kind() == "RefEnter"))
      frame->second.set_s(fmt::format("{}/{}", site_.prefix, frame->second.s()));
    if (auto colocation = attrs.find("_class"); colocation != attrs.end()) rename_colocation(colocation->second);
    return node;
  }

  void rename_colocation(wire::AttrValue& value) {
    for (std::string& entry : *value.mutable_list()->mutable_s()) {
      if (!entry.starts_with("loc:@")) continue;
      const int other = body_.graph.find(entry.substr(5));
      if (other < 0) continue;
      const Node& node = body_.graph.node(other);
      if (node.kind() == "_Arg") entry = "loc:@" + editor_.node(site_.arguments[index_of(node)].node).name();
      else entry = fmt::format("loc:@{}/{}", site_.prefix, node.name());
    }
  }

  Status connect(int i) {
    const Node& original = body_.graph.node(i);
    std::vector<Edge> inputs;
    for (const Edge& e : original.inputs) inputs.push_back(moved(e));
    std::vector<int> controls;
    for (int c : original.controls) {
      TRY_ASSIGN(const int source, control(c));
      controls.push_back(source);
    }
    if (inputs.empty() && controls.empty() && site_.gate >= 0) controls.push_back(site_.gate);
    Node& node = editor_.node(moved_[static_cast<std::size_t>(i)]);
    node.inputs = std::move(inputs);
    node.controls = std::move(controls);
    return absl::OkStatus();
  }

  Edge moved(const Edge& e) const {
    const auto at = static_cast<std::size_t>(e.node);
    return moved_[at] >= 0 ? Edge{moved_[at], e.output} : arguments_[at];
  }
  StatusOr<int> control(int i) {
    if (moved_[static_cast<std::size_t>(i)] >= 0) return moved_[static_cast<std::size_t>(i)];
    if (!anchors_.contains(i)) TRY(anchor(i));
    return anchors_[i];
  }

  Editor& editor_;
  const Body& body_;
  const Site& site_;
  std::vector<int> moved_;
  std::vector<Edge> arguments_;
  std::map<int, int> anchors_;
};

}  // namespace

StatusOr<const Body*> Editor::body_of(const wire::NameAttrList& function, const std::vector<DType>& arguments, const std::vector<DType>& results,
                                      bool gradient) {
  const std::string key = (gradient ? "gradient|" : "") + key_of(function);
  auto found = bodies_.find(key);
  if (found == bodies_.end()) {
    const auto* definition = graph_.library() ? graph_.library()->find(function.name()) : nullptr;
    if (!definition) return not_found("Function {} is not defined.", function.name());
    TRY_ASSIGN(Body made, make_body(*definition, function, graph_.library(), gradient));
    found = bodies_.emplace(key, std::move(made)).first;
  }
  TRY(check_types(found->second, function.name(), arguments, results));
  return &found->second;
}

StatusOr<Inlined> Editor::put_in(const Body& body, const Site& site) {
  return Insertion(*this, body, site).run([&](Node node, bool steered) { return append(std::move(node), steered || site.steered, site.lineage); });
}

}  // namespace troupe::lowering
