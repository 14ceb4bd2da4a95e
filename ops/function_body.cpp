// Instantiation of function definitions: names of three parts become edges, attributes are filled in, what cannot run is left out.
#include <troupe/ops/function_body.hpp>

#include <troupe/ops/definitions.hpp>

#include <algorithm>

namespace troupe {
namespace {

using Attrs = google::protobuf::Map<std::string, wire::AttrValue>;

/// Replaces every placeholder in a value, those inside of nested functions included.
Status fill_in(wire::AttrValue& value, const Attrs& attrs);

Status fill_in_function(wire::NameAttrList& function, const Attrs& attrs) {
  for (auto& [name, value] : *function.mutable_attr()) TRY(fill_in(value, attrs));
  return absl::OkStatus();
}

Status fill_in(wire::AttrValue& value, const Attrs& attrs) {
  switch (value.value_case()) {
    case wire::AttrValue::kPlaceholder: {
      auto found = attrs.find(value.placeholder());
      if (found == attrs.end()) return invalid("Failed to bind all placeholders in {}", value.placeholder());
      const wire::AttrValue given = found->second;  // a copy: it may be part of what it replaces
      value = given;
      return absl::OkStatus();
    }
    case wire::AttrValue::kFunc: return fill_in_function(*value.mutable_func(), attrs);
    case wire::AttrValue::kList:
      for (auto& function : *value.mutable_list()->mutable_func()) TRY(fill_in_function(function, attrs));
      return absl::OkStatus();
    default: return absl::OkStatus();
  }
}

/// Outputs that go by one name inside a body: one, or all of a list.
struct Outputs {
  std::string node;
  int first = 0;
  int count = 1;
  bool arguments = false;  // a list of arguments: each is a node of its own
};

class Body {
 public:
  Body(const wire::FunctionDef& function, const Attrs& given, LibraryPtr library) : function_(function), library_(std::move(library)) {
    for (const auto& attr : function.signature().attr())
      if (attr.has_default_value()) attrs_[attr.name()] = attr.default_value();
    for (const auto& [name, value] : given) attrs_[name] = value;
  }

  StatusOr<wire::GraphDef> build() {
    // The signature's own types come from the attributes of the call, as those of any op.
    wire::NodeDef call;
    call.set_op(function_.signature().name());
    *call.mutable_attr() = attrs_;
    TRY_ASSIGN(signature_, resolve_signature(call, function_.signature()));
    add_arguments();
    TRY(add_nodes());
    for (int i = 0; i < function_.node_def_size(); ++i) TRY(connect(i));
    TRY(add_results());
    return std::move(graph_);
  }

 private:
  void add_arguments() {
    const auto& args = function_.signature().input_arg();
    for (int a = 0; a < args.size(); ++a) {
      const int first = signature_.input_begin[static_cast<std::size_t>(a)], last = signature_.input_begin[static_cast<std::size_t>(a) + 1];
      const bool list = last - first != 1;
      for (int i = first; i < last; ++i) {
        wire::NodeDef* node = graph_.add_node();
        node->set_name(list ? fmt::format("{}_{}", args[a].name(), i - first) : args[a].name());
        node->set_op("_Arg");
        if (auto more = function_.arg_attr().find(static_cast<std::uint32_t>(i)); more != function_.arg_attr().end())
          for (const auto& [name, value] : more->second.attr())
            if (name.starts_with('_')) (*node->mutable_attr())[name] = value;
        (*node->mutable_attr())["T"].set_type(static_cast<wire::DataType>(signature_.inputs[static_cast<std::size_t>(i)]));
        (*node->mutable_attr())["index"].set_i(i);
        outputs_[fmt::format("{}:{}", args[a].name(), i - first)] = {node->name(), 0, 1, false};
      }
      outputs_[args[a].name()] = list ? Outputs{args[a].name(), 0, last - first, true} : Outputs{args[a].name(), 0, 1, false};
    }
  }

  Status add_nodes() {
    for (const auto& def : function_.node_def()) {
      wire::NodeDef* node = graph_.add_node();
      *node = def;
      node->clear_input();
      for (auto& [name, value] : *node->mutable_attr()) TRY(fill_in(value, attrs_));
      const wire::OpDef* op = find_op(def.op());
      if (!op && library_)
        if (const auto* nested = library_->find(def.op())) op = &nested->signature();
      if (!op) return not_found("Op type not registered '{}' in function {}", def.op(), function_.signature().name());
      fill_defaults(node, *op);
      TRY_ASSIGN(const Signature types, resolve_signature(*node, *op));
      for (int a = 0; a < op->output_arg_size(); ++a) {
        const int first = types.output_begin[static_cast<std::size_t>(a)], last = types.output_begin[static_cast<std::size_t>(a) + 1];
        const std::string name = def.name() + ":" + op->output_arg(a).name();
        outputs_[name] = {def.name(), first, last - first, false};
        for (int i = first; i < last; ++i) outputs_[fmt::format("{}:{}", name, i - first)] = {def.name(), i, 1, false};
      }
      if (types.outputs.size() == 1) outputs_.try_emplace(def.name(), Outputs{def.name(), 0, 1, false});
    }
    return absl::OkStatus();
  }

  Status connect(int i) {
    wire::NodeDef& node = *graph_.mutable_node(graph_.node_size() - function_.node_def_size() + i);
    for (const std::string& input : function_.node_def(i).input()) {
      if (input.starts_with('^')) {
        node.add_input(input);
        continue;
      }
      TRY_ASSIGN(const Outputs outputs, find(input));
      for (int k = 0; k < outputs.count; ++k) node.add_input(edge_name(outputs, k));
    }
    return absl::OkStatus();
  }

  Status add_results() {
    const auto& args = function_.signature().output_arg();
    int index = 0;
    for (int a = 0; a < args.size(); ++a) {
      const int first = signature_.output_begin[static_cast<std::size_t>(a)], last = signature_.output_begin[static_cast<std::size_t>(a) + 1];
      auto ret = function_.ret().find(args[a].name());
      if (ret == function_.ret().end()) return invalid("Return value {} of function {} is missing", args[a].name(), function_.signature().name());
      TRY_ASSIGN(const Outputs outputs, find(ret->second));
      if (outputs.count != last - first)
        return invalid("Return value {} of function {} has {} values, not {}", args[a].name(), function_.signature().name(), outputs.count,
                       last - first);
      for (int i = first; i < last; ++i, ++index) {
        wire::NodeDef* node = graph_.add_node();
        node->set_name(last - first == 1 ? args[a].name() + "_RetVal" : fmt::format("{}_RetVal_{}", args[a].name(), i - first));
        while (taken_by_body(node->name())) node->set_name(node->name() + "_");
        node->set_op("_Retval");
        node->add_input(edge_name(outputs, i - first));
        (*node->mutable_attr())["T"].set_type(static_cast<wire::DataType>(signature_.outputs[static_cast<std::size_t>(i)]));
        (*node->mutable_attr())["index"].set_i(index);
      }
    }
    return absl::OkStatus();
  }

  StatusOr<Outputs> find(const std::string& name) const {
    auto found = outputs_.find(name);
    if (found == outputs_.end()) return invalid("Function {}: input {} is not found", function_.signature().name(), name);
    return found->second;
  }
  static std::string edge_name(const Outputs& outputs, int k) {
    if (outputs.arguments) return fmt::format("{}_{}", outputs.node, k);
    return fmt::format("{}:{}", outputs.node, outputs.first + k);
  }
  bool taken_by_body(const std::string& name) const {
    const auto& nodes = function_.node_def();
    return std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) { return node.name() == name; });
  }

  const wire::FunctionDef& function_;
  LibraryPtr library_;
  Attrs attrs_;
  Signature signature_;
  std::unordered_map<std::string, Outputs> outputs_;
  wire::GraphDef graph_;
};

bool is_flow(const Node& node) {
  static constexpr std::string_view ops[] = {"Switch",   "RefSwitch", "_SwitchN", "Merge",         "RefMerge",         "Enter",
                                             "RefEnter", "Exit",      "RefExit",  "NextIteration", "RefNextIteration", "LoopCond"};
  return std::find(std::begin(ops), std::end(ops), node.kind()) != std::end(ops);
}

/// What a call has to run: results, nodes with side effects, loops and conditionals, and whatever these need.
StatusOr<Graph> without_idle_nodes(const Graph& graph, const std::vector<std::string>& wanted) {
  std::vector<bool> needed(graph.nodes().size(), false);
  std::vector<int> open;
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const bool acts = node.op->is_stateful() && node.kind() != "_Arg";
    if (acts || is_flow(node) || std::binary_search(wanted.begin(), wanted.end(), node.name())) open.push_back(i);
  }
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (needed[static_cast<std::size_t>(at)]) continue;
    needed[static_cast<std::size_t>(at)] = true;
    for (const Edge& e : graph.node(at).inputs) open.push_back(e.node);
    for (int c : graph.node(at).controls) open.push_back(c);
  }
  wire::GraphDef empty;
  *empty.mutable_versions() = graph.versions();
  TRY_ASSIGN(Graph kept, Graph::from(empty, graph.library()));
  std::vector<int> moved(graph.nodes().size(), -1);
  for (int i = 0; i < graph.size(); ++i)
    if (needed[static_cast<std::size_t>(i)]) moved[static_cast<std::size_t>(i)] = kept.add_checked(graph.node(i));
  for (Node& node : kept.nodes()) {
    for (Edge& e : node.inputs) e.node = moved[static_cast<std::size_t>(e.node)];
    for (int& c : node.controls) c = moved[static_cast<std::size_t>(c)];
  }
  return kept;
}

}  // namespace

std::vector<std::string> control_results(const wire::FunctionDef& function) {
  std::vector<std::string> names;
  for (const auto& [name, node] : function.control_ret()) names.push_back(node);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

StatusOr<Graph> instantiate(const wire::FunctionDef& function, const google::protobuf::Map<std::string, wire::AttrValue>& attrs, LibraryPtr library) {
  TRY_ASSIGN(const wire::GraphDef body, Body(function, attrs, library).build());
  TRY_ASSIGN(const Graph graph, Graph::from(body, library));
  return without_idle_nodes(graph, control_results(function));
}

}  // namespace troupe
