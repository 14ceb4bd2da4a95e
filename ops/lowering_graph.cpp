// Editing of graphs for lowerings.
#include <troupe/ops/lowering_graph.hpp>

#include <troupe/ops/definitions.hpp>
#include <troupe/ops/lowering.hpp>

#include <algorithm>
#include <array>

namespace troupe::lowering {
namespace {

StatusOr<Node> make_node(wire::NodeDef def, std::vector<Edge> inputs, std::vector<int> controls) {
  Node node;
  node.op = find_op(def.op());
  if (!node.op) return internal("Op {} is not defined", def.op());
  fill_defaults(&def, *node.op);
  TRY_ASSIGN(node.signature, resolve_signature(def, *node.op));
  node.def = std::move(def);
  node.inputs = std::move(inputs);
  node.controls = std::move(controls);
  return node;
}

void drop_repeats(std::vector<int>& controls) {
  std::sort(controls.begin(), controls.end());
  controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
}

/// job, replica, task, device: the parts of a device name in their order.
using Parts = std::array<std::string, 4>;

Parts parts_of(std::string_view text) {
  static constexpr std::string_view keys[] = {"job:", "replica:", "task:", "device:"};
  Parts parts;
  while (!text.empty()) {
    if (text.front() == '/') text.remove_prefix(1);
    const std::string_view part = text.substr(0, text.find('/'));
    text.remove_prefix(part.size());
    std::size_t at = 3;  // the older "/cpu:0" names a device, too
    for (std::size_t i = 0; i < 4; ++i)
      if (part.starts_with(keys[i])) at = i;
    if (!part.empty()) parts[at] = part;
  }
  return parts;
}

}  // namespace

bool contains(const LineagePtr& lineage, const std::string& function) {
  for (const Lineage* l = lineage.get(); l; l = l->outer.get())
    if (l->function == function) return true;
  return false;
}

bool in_branch(const LineagePtr& lineage) {
  for (const Lineage* l = lineage.get(); l; l = l->outer.get())
    if (l->branch) return true;
  return false;
}

wire::AttrValue type_attr(DType type) {
  wire::AttrValue value;
  value.set_type(static_cast<wire::DataType>(without_ref(type)));
  return value;
}
wire::AttrValue types_attr(const std::vector<DType>& types) {
  wire::AttrValue value;
  value.mutable_list();
  for (DType t : types) value.mutable_list()->add_type(static_cast<wire::DataType>(without_ref(t)));
  return value;
}
wire::AttrValue int_attr(std::int64_t i) {
  wire::AttrValue value;
  value.set_i(i);
  return value;
}
wire::AttrValue text_attr(const std::string& s) {
  wire::AttrValue value;
  value.set_s(s);
  return value;
}
wire::AttrValue bool_attr(bool b) {
  wire::AttrValue value;
  value.set_b(b);
  return value;
}

Where merged(const Where& own, const Where& callers) {
  if (own.empty()) return callers;
  const Parts mine = parts_of(own), theirs = parts_of(callers);
  Where all;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::string& part = mine[i].empty() ? theirs[i] : mine[i];
    if (!part.empty()) all += "/" + part;
  }
  return all;
}

std::vector<bool> find_steered(const Graph& graph) {
  std::vector<bool> steered(graph.nodes().size(), false);
  std::vector<int> open;
  for (int i = 0; i < graph.size(); ++i) {
    const std::string& op = graph.node(i).kind();
    if (op == "Switch" || op == "RefSwitch" || op == "_SwitchN" || op == "Enter" || op == "RefEnter") open.push_back(i);
  }
  if (open.empty()) return steered;
  const auto consumers = graph.consumers();
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (steered[static_cast<std::size_t>(at)]) continue;
    steered[static_cast<std::size_t>(at)] = true;
    for (int next : consumers[static_cast<std::size_t>(at)]) open.push_back(next);
  }
  return steered;
}

Editor::Editor(Graph& graph, bool optimized)
    : graph_(graph), optimized_(optimized), only_read_(graph.nodes().size(), false), steered_(find_steered(graph)), lineages_(graph.nodes().size()) {
  for (const Node& node : graph.nodes())
    if (node.kind() != "_Send")
      for (const Edge& e : node.inputs) only_read_[static_cast<std::size_t>(e.node)] = true;
  for (const Node& node : graph.nodes()) {
    if (node.kind() == "_Send") only_read_[static_cast<std::size_t>(node.inputs[0].node)] = false;
    for (int c : node.controls) only_read_[static_cast<std::size_t>(c)] = false;
  }
}

int Editor::append(Node node, bool steered, LineagePtr lineage) {
  drop_repeats(node.controls);
  node.def.set_name(graph_.unique_name(node.def.name()));
  steered_.push_back(steered);
  lineages_.push_back(std::move(lineage));
  return graph_.add_checked(std::move(node));
}

std::vector<std::string> Editor::callers(int at, Called called) {
  const auto& def = node(at).def;
  std::vector<std::string> names;
  if (auto outer = def.attr().find(callers_attr); outer != def.attr().end())
    names.assign(outer->second.list().s().begin(), outer->second.list().s().end());
  if (called == Called::in_place) return names;
  // In a function that runs apart a node has the name that it has there.
  const auto& own = def.experimental_debug_info().original_node_names();
  const std::string& name = names.empty() || own.empty() ? def.name() : own[0];
  names.insert(names.begin(), called == Called::apart ? name : fmt::format("({})", name));
  return names;
}

std::vector<std::string> Editor::callers_of_branch(int at) {
  const auto& attrs = node(at).def.attr();
  const auto lowered = attrs.find("_lower_using_switch_merge");
  return callers(at, lowered != attrs.end() && lowered->second.b() ? Called::in_place : Called::apart);
}

StatusOr<int> Editor::add(const char* op, const std::string& name, std::vector<Edge> inputs, std::vector<int> controls, const Where& where,
                          const std::vector<Attr>& attrs, bool steered) {
  wire::NodeDef def;
  def.set_name(name);
  def.set_op(op);
  def.set_device(where);
  for (const auto& [key, value] : attrs) (*def.mutable_attr())[key] = value;
  TRY_ASSIGN(Node node, make_node(std::move(def), std::move(inputs), std::move(controls)));
  return append(std::move(node), steered, nullptr);
}

StatusOr<Edge> Editor::add_on(const char* op, const std::string& name, const Edge& input, std::vector<int> controls, const Where& where,
                              bool steered) {
  TRY_ASSIGN(const int made, add(op, name, {input}, std::move(controls), where_for(input, where), {{"T", type_attr(type_of(input))}}, steered));
  return Edge{made, 0};
}

StatusOr<int> Editor::add_no_op(const std::string& name, std::vector<int> controls, const Where& where, bool steered) {
  return add("NoOp", name, {}, std::move(controls), where, {}, steered);
}

Where Editor::where_for(const Edge& value, const Where& otherwise) {
  const DType type = type_of(value);
  return type == DType::resource ? node(value.node).def.device() : otherwise;
}

StatusOr<Edge> Editor::as_bool(const Edge& value, const std::string& name, const Where& where, bool steered) {
  if (type_of(value) == DType::boolean) return value;
  return add_on("ToBool", name, value, {}, where, steered);
}

Status Editor::replace(int at, std::vector<Edge> results, std::vector<int> done) {
  wire::NodeDef def;
  def.set_name(node(at).name());
  def.set_device(node(at).def.device());
  std::vector<DType> types;
  for (const Edge& e : results) types.push_back(type_of(e));
  def.set_op(results.empty() ? "NoOp" : "IdentityN");
  if (!results.empty()) (*def.mutable_attr())["T"] = types_attr(types);
  drop_repeats(done);
  TRY_ASSIGN(Node made, make_node(std::move(def), results, std::move(done)));
  made.device = node(at).device;
  replaced_[at] = std::move(results);
  node(at) = std::move(made);
  return absl::OkStatus();
}

Edge Editor::final_source(Edge e) const {
  for (auto found = replaced_.find(e.node); found != replaced_.end(); found = replaced_.find(e.node))
    e = found->second[static_cast<std::size_t>(e.output)];
  return e;
}

Status Editor::finish(bool pass_by) {
  if (!pass_by) return absl::OkStatus();
  std::vector<bool> awaited(graph_.nodes().size(), false);
  for (Node& n : graph_.nodes()) {
    for (Edge& e : n.inputs) e = final_source(e);
    for (int c : n.controls) awaited[static_cast<std::size_t>(c)] = true;
  }
  for (const auto& [at, results] : replaced_) {
    if (awaited[static_cast<std::size_t>(at)]) continue;
    // Nobody looks at the node any more; without inputs it costs nothing.
    wire::NodeDef def;
    def.set_name(node(at).name());
    def.set_op("NoOp");
    def.set_device(node(at).def.device());
    TRY_ASSIGN(Node idle, make_node(std::move(def), {}, {}));
    idle.device = node(at).device;
    node(at) = std::move(idle);
  }
  return absl::OkStatus();
}

}  // namespace troupe::lowering
