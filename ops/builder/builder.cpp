// Making of nodes: names, types, placement, control edges.
#include <troupe/ops/builder/builder.hpp>

#include <absl/strings/ascii.h>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/builder/arguments.hpp>
#include <troupe/ops/builder/shapes.hpp>
#include <troupe/ops/builder/variable.hpp>
#include <troupe/ops/definitions.hpp>

#include <algorithm>

namespace troupe::build {
namespace {

// What TensorFlow 2.15 writes, and refuses to read from further back.
constexpr int producer_version = 1645, min_consumer_version = 12;

std::string edge_name(const Builder& b, const Out& out) {
  const auto& name = b.made(out.node).def.name();
  return out.index == 0 ? name : fmt::format("{}:{}", name, out.index);
}

}  // namespace

Builder::Builder() = default;
Builder::~Builder() = default;

DType Out::dtype() const { return valid() ? without_ref(builder->made(node).signature.outputs[static_cast<std::size_t>(index)]) : DType::invalid; }

const PartialShape& Out::shape() const {
  static const PartialShape unknown;
  return valid() ? builder->made(node).shapes[static_cast<std::size_t>(index)] : unknown;
}

std::string Out::name() const { return valid() ? fmt::format("{}:{}", builder->made(node).def.name(), index) : ""; }

namespace {
const std::string nothing;
}

const std::string& Op::name() const { return valid() ? builder->made(node).def.name() : nothing; }
const std::string& Op::kind() const { return valid() ? builder->made(node).def.op() : nothing; }
const std::string& Op::device() const { return valid() ? builder->made(node).def.device() : nothing; }
int Op::outputs() const { return valid() ? static_cast<int>(builder->made(node).signature.outputs.size()) : 0; }
int Op::inputs() const { return valid() ? static_cast<int>(builder->made(node).inputs.size()) : 0; }

Out Op::operator[](int i) const {
  if (i >= 0 && i < outputs()) return {builder, node, i};
  if (valid()) builder->fail(invalid("{} has no output {}", name(), i));
  return {};
}

Out Op::input(int i) const { return i >= 0 && i < inputs() ? builder->made(node).inputs[static_cast<std::size_t>(i)] : Out{}; }

void Builder::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Op Builder::op(const std::string& kind, const std::vector<In>& inputs, const Attrs& attrs, const std::string& name) {
  auto made = add(kind, inputs, attrs, name.empty() ? kind : name);
  if (made.ok()) return *made;
  fail(made.status());
  return {};
}

StatusOr<Op> Builder::add(const std::string& kind, const std::vector<In>& inputs, const Attrs& attrs, const std::string& name) {
  const std::string where = name.ends_with('/') ? name.substr(0, name.size() - 1) : context_.scope + name;
  for (const In& in : inputs)
    for (const Out& out : in.outs) {
      if (!out.valid()) return status_.ok() ? invalid("Node '{}' ({}) has an empty input", where, kind) : status_;
      if (out.builder != this) return invalid("Node '{}' ({}) has an input of another builder: {}", where, kind, out.name());
    }
  Made made;
  made.op = find_op(kind);
  for (const auto& library : libraries_)
    if (const auto* function = made.op ? nullptr : library->find(kind)) made.op = &function->signature();
  if (!made.op) return not_found("Node '{}': there is no op '{}'", where, kind);
  made.def.set_op(kind);
  for (const auto& [key, value] : attrs) (*made.def.mutable_attr())[key] = value.proto();
  auto bound = bind_arguments(*made.op, inputs, made.def);
  if (!bound.ok()) return prepend_text(fmt::format("Node '{}': ", where), bound.status());
  made.inputs = std::move(bound).value();
  made.controls = controls_for(made.inputs);
  made.def.set_name(unique_name(name));
  place(made.def);
  return keep(std::move(made));
}

StatusOr<Op> Builder::keep(Made made) {
  auto& def = made.def;
  def.clear_input();
  for (const Out& out : made.inputs) def.add_input(out.node < size() ? edge_name(*this, out) : "");
  for (int control : made.controls) def.add_input("^" + this->made(control).def.name());
  fill_defaults(&def, *made.op);
  const Status valid = validate_node(def, *made.op);
  if (!valid.ok()) return prepend_text(fmt::format("Node '{}': ", def.name()), valid);
  TRY_ASSIGN(made.signature, resolve_signature(def, *made.op));
  if (def.op() == "Const") {
    auto value = tensor_from_proto(def.attr().at("value").tensor());
    if (!value.ok()) return prepend_text(fmt::format("Node '{}': ", def.name()), value.status());
    made.value = std::move(value).value();
  }
  const int node = size();
  if (!by_name_.emplace(def.name(), node).second) return already_exists("There is a node '{}' already", def.name());
  used_.emplace(absl::AsciiStrToLower(def.name()), 1);
  for (auto& group : context_.controls) group.nodes->insert(node);
  made.shapes.resize(made.signature.outputs.size());
  nodes_.push_back(std::move(made));
  TRY_ASSIGN(nodes_.back().shapes, infer_shapes(*this, nodes_.back()));
  return Op{this, node};
}

void Builder::refine(Out out, const PartialShape& shape) {
  if (!out.valid()) return;
  auto& known = nodes_[static_cast<std::size_t>(out.node)].shapes[static_cast<std::size_t>(out.index)];
  auto merged = merge_shapes(known, shape);
  if (merged.ok()) known = *merged;
  else fail(invalid("{} for '{}'", text_of(merged.status()), out.name()));
}

std::vector<int> Builder::controls_for(const std::vector<Out>& inputs) const {
  std::set<int> controls;
  for (const auto& group : context_.controls) {
    const bool inside = std::any_of(inputs.begin(), inputs.end(), [&](const Out& in) { return group.nodes->contains(in.node); });
    if (!inside) controls.insert(group.controls.begin(), group.controls.end());
  }
  for (const Out& in : inputs) controls.erase(in.node);
  return {controls.begin(), controls.end()};
}

void Builder::place(wire::NodeDef& def) const {
  if (!context_.beside.empty()) {
    auto& attr = (*def.mutable_attr())["_class"];
    attr.mutable_list()->clear_s();
    for (const auto& name : context_.beside) attr.mutable_list()->add_s("loc:@" + name);
    def.set_device(context_.beside_device);
  }
  for (auto choose = context_.devices.rbegin(); choose != context_.devices.rend(); ++choose) def.set_device((*choose)(def));
}

std::string Builder::unique_name(const std::string& name) {
  if (name.ends_with('/')) return name.substr(0, name.size() - 1);
  const std::string full = context_.scope + name;
  const std::string base = absl::AsciiStrToLower(full);
  int i = used_.contains(base) ? used_[base] : 0;
  used_[base] = i + 1;
  if (i == 0) return full;
  std::string key = base;
  while (used_.contains(key)) key = fmt::format("{}_{}", base, i++);
  used_[key] = 1;
  return fmt::format("{}_{}", full, i - 1);
}

Out Builder::constant(const Tensor& value, const std::string& name) {
  if (!value.valid()) {
    fail(invalid("Constant '{}' has no value", name));
    return {};
  }
  return op("Const", {}, {{"dtype", value.dtype()}, {"value", value}}, name);
}

Out Builder::number(double value, DType type, const std::string& name) {
  Tensor scalar;
  visit_dtype(joined<reals, types<bool>>{}, type, [&]<class T>() { scalar = Tensor::scalar<T>(static_cast<T>(value)); });
  visit_dtype(complexes{}, type, [&]<class T>() { scalar = Tensor::scalar<T>(T(static_cast<typename T::value_type>(value))); });
  if (scalar.valid()) return constant(scalar, name);
  fail(status_.ok() && type != DType::invalid ? invalid("Node '{}{}': there is no number of type {}", context_.scope, name, name_of(type)) : status_);
  return {};
}

Out Builder::placeholder(DType type, const PartialShape& shape, const std::string& name) {
  return op("Placeholder", {}, {{"dtype", type}, {"shape", shape}}, name);
}

Op Builder::group(const std::vector<Op>& ops, const std::string& name) {
  auto inside = after(ops);
  return op("NoOp", {}, {}, name);
}

Op Builder::initializer(const std::string& name) {
  std::vector<Op> all;
  for (const auto& v : variables_) all.push_back(v.initializer);
  auto free = after_nothing();
  return group(all, name);
}

void Builder::remember(const Variable& variable) { variables_.push_back(variable); }

StatusOr<Op> Builder::find(const std::string& name) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) return not_found("The graph has no node '{}'", name);
  return Op{this, found->second};
}

StatusOr<Out> Builder::find_output(const std::string& name) {
  auto [node, index] = split_tensor_name(name);
  TRY_ASSIGN(const Op op, find(node));
  if (index < 0 || index >= op.outputs()) return not_found("Node '{}' has no output {}", node, index);
  return op[index];
}

StatusOr<wire::GraphDef> Builder::graph() const {
  if (!status_.ok()) return status_;
  wire::GraphDef out;
  for (const Made& made : nodes_) *out.add_node() = made.def;
  FunctionLibrary all;
  for (const auto& library : libraries_) TRY(all.add(library->proto()));
  if (!all.empty()) *out.mutable_library() = all.proto();
  out.mutable_versions()->set_producer(producer_version);
  out.mutable_versions()->set_min_consumer(min_consumer_version);
  return out;
}

Status Builder::add_graph(const wire::GraphDef& graph, const std::string& prefix) {
  auto library = std::make_shared<const FunctionLibrary>(graph.library());
  TRY_ASSIGN(Graph read, Graph::from(graph, library));
  TRY_ASSIGN(const auto order, read.topological_order());
  if (!library->empty()) libraries_.push_back(library);
  const std::string before = prefix.empty() ? "" : prefix + "/";
  std::vector<int> ids(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) ids[static_cast<std::size_t>(order[i])] = size() + static_cast<int>(i);
  for (int at : order) {
    const Node& node = read.node(at);
    Made made{.def = node.def, .op = node.op, .signature = node.signature, .inputs = {}, .controls = {}, .shapes = {}, .value = {}};
    made.def.set_name(before + node.name());
    for (const Edge& e : node.inputs) made.inputs.push_back({this, ids[static_cast<std::size_t>(e.node)], e.output});
    for (int c : node.controls) made.controls.push_back(ids[static_cast<std::size_t>(c)]);
    if (auto found = made.def.mutable_attr()->find("_class"); found != made.def.mutable_attr()->end())
      for (auto& place : *found->second.mutable_list()->mutable_s())
        if (place.starts_with("loc:@")) place = "loc:@" + before + place.substr(5);
    TRY(keep(std::move(made)).status());
  }
  // Edges that lead back in a loop could not be named while their source was not there.
  for (int node : ids) {
    auto& made = nodes_[static_cast<std::size_t>(node)];
    for (std::size_t i = 0; i < made.inputs.size(); ++i) made.def.set_input(static_cast<int>(i), edge_name(*this, made.inputs[i]));
  }
  return absl::OkStatus();
}

}  // namespace troupe::build
