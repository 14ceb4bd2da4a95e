// Lowering of calls: every functional node in turn, those in the bodies that were put in included.
#include <troupe/ops/lowering.hpp>

#include <troupe/ops/definitions.hpp>
#include <troupe/ops/lowering_graph.hpp>

namespace troupe {
namespace lowering {
namespace {

enum class Kind { plain, call, by_name, conditional, loop, gradient };

Kind kind_of(const Node& node, const LibraryPtr& library) {
  const std::string& op = node.kind();
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall") return Kind::call;
  if (op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase") return Kind::conditional;
  if (op == "While" || op == "StatelessWhile") return Kind::loop;
  if (op == "SymbolicGradient") return Kind::gradient;
  if (library && library->find(op) && !find_op(op)) return Kind::by_name;
  return Kind::plain;
}

std::vector<std::string> functions_of(const Node& node, Kind kind) {
  const auto& attrs = node.def.attr();
  std::vector<std::string> names;
  if (kind == Kind::by_name) names.push_back(node.kind());
  for (const char* attr : {"f", "then_branch", "else_branch", "cond", "body"})
    if (auto found = attrs.find(attr); found != attrs.end() && found->second.has_func()) names.push_back(found->second.func().name());
  if (auto found = attrs.find("branches"); found != attrs.end())
    for (const auto& f : found->second.list().func()) names.push_back(f.name());
  return names;
}

wire::NameAttrList callee_of(const Node& node, Kind kind) {
  if (kind == Kind::call || kind == Kind::gradient) return node.def.attr().at("f").func();
  wire::NameAttrList f;
  f.set_name(node.kind());
  *f.mutable_attr() = node.def.attr();
  return f;
}

/// A call by name that is left for run time goes through an op that has a kernel.
Status make_run_time_call(Node& node) {
  wire::NodeDef def;
  def.set_name(node.name());
  def.set_device(node.def.device());
  def.set_op(node.op->is_stateful() ? "StatefulPartitionedCall" : "PartitionedCall");
  auto& attrs = *def.mutable_attr();
  attrs["Tin"] = types_attr(node.signature.inputs);
  attrs["Tout"] = types_attr(node.signature.outputs);
  *attrs["f"].mutable_func() = callee_of(node, Kind::by_name);
  const wire::OpDef* op = find_op(def.op());
  fill_defaults(&def, *op);
  TRY_ASSIGN(node.signature, resolve_signature(def, *op));
  node.op = op;
  node.def = std::move(def);
  return absl::OkStatus();
}

template <class Def>
bool is_set(const Def& def, const char* attr) {
  const auto found = def.attr().find(attr);
  return found != def.attr().end() && found->second.b();
}

/// TensorFlow's optimizer puts in calls of the graph itself, by name one level deep, where no effect could get lost.
Editor::Called called(const Editor& editor, int at, Kind kind, const Body& body) {
  const auto& lineage = editor.lineage(at);
  const Node& node = editor.graph().node(at);
  const auto& library = editor.graph().library();
  const auto* function = library ? library->find(callee_of(node, kind).name()) : nullptr;
  const bool kept = is_set(node.def, "_noinline") || (function && is_set(*function, "_noinline")) || in_branch(lineage);
  const bool left = kept || (!lineage && (!editor.optimized() || (node.op->is_stateful() && editor.only_read(at))));
  if (kind == Kind::by_name) return left || lineage ? Editor::Called::apart : Editor::Called::in_place;
  if (kind == Kind::call) return left || !body.promises_effects ? Editor::Called::apart_on_devices : Editor::Called::in_place;
  return Editor::Called::in_place;
}

Status lower_call(Editor& editor, int at, Kind kind) {
  const Node call = editor.node(at);
  wire::NameAttrList callee = callee_of(call, kind);
  // A function may name another as its gradient.
  const std::string* own = kind == Kind::gradient && editor.graph().library() ? editor.graph().library()->gradient_of(callee.name()) : nullptr;
  if (own) callee.set_name(*own);
  TRY_ASSIGN(const Body* body, editor.body_of(callee, call.signature.inputs, call.signature.outputs, kind == Kind::gradient && !own));
  Site site;
  site.prefix = call.name();
  site.where = call.def.device();
  site.arguments = call.inputs;
  site.steered = editor.steered(at);
  site.lineage = std::make_shared<Lineage>(Lineage{callee.name(), editor.lineage(at), false});
  site.callers = editor.callers(at, called(editor, at, kind, *body));
  if (!call.controls.empty() || site.steered) {
    std::vector<int> controls = call.controls;
    if (site.steered && !call.inputs.empty()) {
      // All inputs of a call on a branch not taken are dead alike; any of them tells.
      TRY_ASSIGN(const Edge pivot, editor.add_on("Identity", call.name() + "/pivot", call.inputs[0], {}, site.where, true));
      controls.push_back(pivot.node);
    }
    TRY_ASSIGN(site.gate, editor.add_no_op(call.name() + "/begin", std::move(controls), site.where, site.steered));
    site.gate_arguments = !call.controls.empty();
  }
  TRY_ASSIGN(Inlined inlined, editor.put_in(*body, site));
  // A call without results and effects still is not over before what it waits for.
  if (inlined.results.empty() && inlined.done.empty() && site.gate >= 0) inlined.done.push_back(site.gate);
  return editor.replace(at, std::move(inlined.results), std::move(inlined.done));
}

Status lower(Editor& editor, int at, Kind kind) {
  for (const std::string& name : functions_of(editor.node(at), kind))
    if (contains(editor.lineage(at), name)) return kind == Kind::by_name ? make_run_time_call(editor.node(at)) : absl::OkStatus();
  if (kind == Kind::conditional) return lower_conditional(editor, at);
  if (kind == Kind::loop) return lower_loop(editor, at).status();
  return lower_call(editor, at, kind);
}

}  // namespace
}  // namespace lowering

Status lower_functions(Graph& graph, Callers callers, bool optimized) {
  lowering::Editor editor(graph, optimized);
  // The graph grows at its end while bodies are put in.
  for (int i = 0; i < graph.size(); ++i) {
    const auto kind = lowering::kind_of(graph.node(i), graph.library());
    if (kind == lowering::Kind::plain) continue;
    const std::string name = graph.node(i).name();
    if (Status status = lowering::lower(editor, i, kind); !status.ok()) return append_text(status, fmt::format("\n\t [[{{{{node {}}}}}]]", name));
  }
  return editor.finish(callers == Callers::passed_by);
}

}  // namespace troupe
