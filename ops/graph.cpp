// Building and checking of graphs.
#include <troupe/ops/graph.hpp>

#include <troupe/ops/definitions.hpp>

#include <unistd.h>

#include <absl/strings/ascii.h>
#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace troupe {
namespace {

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

Status unknown_op(const wire::NodeDef& def) {
  return not_found(
      "Op type not registered '{}' in binary running on {}. Make sure the Op and Kernel are registered in the binary running in this "
      "process. Note that if you are loading a saved graph which used ops from tf.contrib (e.g. `tf.contrib.resampler`), accessing "
      "should be done before importing the graph, as contrib ops are lazily registered when the module is first accessed.",
      def.op(), host_name());
}

/// Refuses an op that the version of the graph's producer no longer has.
Status check_removed(const wire::OpDef& op, int version) {
  if (!op.has_deprecation() || version < op.deprecation().version()) return absl::OkStatus();
  return unimplemented("Op {} is not available in GraphDef version {}. It has been removed in version {}. {}.", op.name(), version,
                       op.deprecation().version(), op.deprecation().explanation());
}

/// The version of graphs that the op definitions belong to.
constexpr int known_producer = 1645;

/// Attributes of later versions that tell where an input comes from or which threads to use, and change no result.
bool is_hint(const std::string& attribute) {
  static const std::set<std::string> hints{"grad_a", "grad_b", "grad_x", "grad_y", "use_unbounded_threadpool", "force_synchronous"};
  return hints.contains(attribute);
}

/// False, zero or empty: asks for what the op did before it had the attribute.
bool says_nothing(const wire::AttrValue& value) {
  return !value.b() && value.i() == 0 && value.f() == 0 && value.s().empty() && value.type() == 0 && value.placeholder().empty() &&
         !value.has_shape() && !value.has_tensor() && !value.has_func() && value.list().ByteSizeLong() == 0;
}

/// Forgets what a newer client says of ops that have got attributes since, where that makes no difference.
void drop_newer_attributes(wire::NodeDef* node, const wire::OpDef& op) {
  std::set<std::string> newer;
  for (const auto& [name, value] : node->attr())
    if (!name.starts_with('_') && (is_hint(name) || says_nothing(value))) newer.insert(name);
  for (const auto& attr : op.attr()) newer.erase(attr.name());
  for (const std::string& name : newer) node->mutable_attr()->erase(name);
}

/// Letters, digits and _.\\/>- ; the first is none of _\\/-, but for names that masters make up.
bool is_node_name(const std::string& name) {
  auto plain = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '>'; };
  auto inner = [&](char c) { return plain(c) || c == '_' || c == '\\' || c == '/' || c == '-'; };
  return !name.empty() && (plain(name[0]) || name[0] == '_') && std::all_of(name.begin(), name.end(), inner);
}

/// Gradients of these want outputs that only some of them have.
bool has_intermediates(const Node& node) {
  static const std::set<std::string> ops{"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"};
  return ops.contains(node.kind());
}

/// Whether two functions do the same: the order of their nodes does not count, and a number that is none equals itself.
bool same_function(const wire::FunctionDef& a, const wire::FunctionDef& b) {
  google::protobuf::util::DefaultFieldComparator numbers;
  numbers.set_treat_nan_as_equal(true);
  google::protobuf::util::MessageDifferencer differencer;
  differencer.set_field_comparator(&numbers);
  const auto* fields = wire::FunctionDef::descriptor();
  differencer.TreatAsMap(fields->FindFieldByName("node_def"), wire::NodeDef::descriptor()->FindFieldByName("name"));
  differencer.IgnoreField(fields->FindFieldByName("arg_attr"));
  return differencer.Compare(a, b);
}

bool is_next_iteration(const Node& node) { return node.kind() == "NextIteration" || node.kind() == "RefNextIteration"; }

}  // namespace

std::pair<std::string, int> split_tensor_name(const std::string& name) {
  if (!name.empty() && name[0] == '^') return {name.substr(1), -1};
  const auto colon = name.rfind(':');
  if (colon == std::string::npos) return {name, 0};
  int output = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + colon + 1, end, output);
  if (parsed.ec != std::errc() || parsed.ptr != end || output < 0) return {name, 0};
  return {name.substr(0, colon), output};
}

StatusOr<Graph> Graph::from(const wire::GraphDef& graph_def, LibraryPtr library) {
  Graph graph;
  graph.library_ = std::move(library);
  graph.versions_ = graph_def.versions();
  TRY(graph.extend(graph_def));
  return graph;
}

Status Graph::extend(const wire::GraphDef& graph_def) {
  const int first = size();
  nodes_.reserve(nodes_.size() + static_cast<std::size_t>(graph_def.node_size()));
  for (const auto& def : graph_def.node()) TRY(append(def));
  TRY(connect(first));
  return topological_order().status();
}

Status Graph::append(const wire::NodeDef& def) {
  if (!is_node_name(def.name())) return invalid("Illegal op name '{}'\n\t [[{{{{node {}}}}}]]", def.name(), def.name());
  if (!by_name_.emplace(def.name(), size()).second) return invalid("Node '{}' is not unique", def.name());
  Node node;
  node.op = find_op(def.op());
  if (!node.op && library_)
    if (const auto* function = library_->find(def.op())) node.op = &function->signature();
  if (!node.op) return unknown_op(def);
  TRY(check_removed(*node.op, versions_.producer()));
  node.def = def;
  if (versions_.producer() > known_producer) drop_newer_attributes(&node.def, *node.op);
  fill_defaults(&node.def, *node.op);
  TRY(validate_node(node.def, *node.op));
  TRY_ASSIGN(node.signature, resolve_signature(node.def, *node.op));
  nodes_.push_back(std::move(node));
  return absl::OkStatus();
}

Status Graph::connect(int first) {
  for (int i = first; i < size(); ++i) {
    Node& node = nodes_[static_cast<std::size_t>(i)];
    bool controls_began = false;
    for (const std::string& input : node.def.input()) {
      auto [name, output] = split_tensor_name(input);
      auto found = by_name_.find(name);
      if (found == by_name_.end()) return invalid("Node '{}': Unknown input node '{}'", node.name(), input);
      if (output < 0) {
        controls_began = true;
        node.controls.push_back(found->second);
        continue;
      }
      if (controls_began) return invalid("All control inputs must follow all data inputs\n\t [[{{{{node {}}}}}]]", node.name());
      TRY(check_edge(node, static_cast<int>(node.inputs.size()), Edge{found->second, output}));
      node.inputs.push_back(Edge{found->second, output});
    }
    if (node.inputs.size() != node.signature.inputs.size())
      return invalid("NodeDef expected {} inputs but got {}: {{{{node {}}}}} of op {}", node.signature.inputs.size(), node.inputs.size(), node.name(),
                     node.kind());
  }
  return absl::OkStatus();
}

Status Graph::check_edge(const Node& node, int input, const Edge& edge) const {
  const Node& source = this->node(edge.node);
  if (edge.output >= static_cast<int>(source.signature.outputs.size()))
    return invalid("Node '{}': Connecting to invalid output {} of source node {} which has {} outputs.{}", node.name(), edge.output, source.name(),
                   source.signature.outputs.size(),
                   has_intermediates(source) ? " Try using tf.compat.v1.experimental.output_all_intermediates(True)." : "");
  if (input >= static_cast<int>(node.signature.inputs.size())) return absl::OkStatus();  // counted later
  const DType from = source.signature.outputs[static_cast<std::size_t>(edge.output)];
  const DType to = node.signature.inputs[static_cast<std::size_t>(input)];
  if (from == to || (is_ref(from) && without_ref(from) == to)) return absl::OkStatus();
  return invalid("Input {} of node {} was passed {} from {}:{} incompatible with expected {}.", input, node.name(), name_of(from), source.name(),
                 edge.output, name_of(to));
}

int Graph::find(const std::string& name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

StatusOr<int> Graph::add(wire::NodeDef def, std::vector<Edge> inputs, std::vector<int> controls, std::string device) {
  def.clear_input();
  for (const Edge& e : inputs) def.add_input(e.output == 0 ? node(e.node).name() : fmt::format("{}:{}", node(e.node).name(), e.output));
  for (int c : controls) def.add_input("^" + node(c).name());
  TRY(append(def));
  Node& node = nodes_.back();
  node.inputs = std::move(inputs);
  node.controls = std::move(controls);
  node.device = std::move(device);
  return size() - 1;
}

int Graph::add_checked(Node node) {
  by_name_.emplace(node.name(), size());
  nodes_.push_back(std::move(node));
  return size() - 1;
}

std::string Graph::unique_name(const std::string& prefix) const {
  if (!by_name_.contains(prefix)) return prefix;
  for (int i = 1;; ++i)
    if (std::string name = prefix + "_" + std::to_string(i); !by_name_.contains(name)) return name;
}

std::vector<std::vector<int>> Graph::consumers() const {
  std::vector<std::vector<int>> out(nodes_.size());
  for (int i = 0; i < size(); ++i) {
    for (const Edge& edge : node(i).inputs) out[static_cast<std::size_t>(edge.node)].push_back(i);
    for (int control : node(i).controls) out[static_cast<std::size_t>(control)].push_back(i);
  }
  return out;
}

StatusOr<std::vector<int>> Graph::topological_order() const {
  std::vector<int> pending(nodes_.size(), 0), order;
  order.reserve(nodes_.size());
  auto counts = [&](int source) { return !is_next_iteration(node(source)); };
  for (int i = 0; i < size(); ++i) {
    for (const Edge& edge : node(i).inputs) pending[static_cast<std::size_t>(i)] += counts(edge.node);
    for (int control : node(i).controls) pending[static_cast<std::size_t>(i)] += counts(control);
    if (pending[static_cast<std::size_t>(i)] == 0) order.push_back(i);
  }
  const auto out = consumers();
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!counts(order[at])) continue;
    for (int next : out[static_cast<std::size_t>(order[at])])
      if (--pending[static_cast<std::size_t>(next)] == 0) order.push_back(next);
  }
  if (order.size() == nodes_.size()) return order;
  std::string names;
  for (int i = 0; i < size() && names.size() < 200; ++i)
    if (pending[static_cast<std::size_t>(i)] > 0) names += (names.empty() ? "" : ", ") + node(i).name();
  return invalid("{} nodes in a cycle: {}", nodes_.size() - order.size(), names);
}

wire::GraphDef Graph::to_graph_def() const {
  wire::GraphDef out;
  *out.mutable_versions() = versions_;
  if (library_) *out.mutable_library() = library_->proto();
  for (const Node& n : nodes_) {
    wire::NodeDef* def = out.add_node();
    *def = n.def;
    def->clear_input();
    if (!n.device.empty()) def->set_device(n.device);
    for (const Edge& e : n.inputs) def->add_input(e.output == 0 ? node(e.node).name() : fmt::format("{}:{}", node(e.node).name(), e.output));
    for (int c : n.controls) def->add_input("^" + node(c).name());
  }
  return out;
}

FunctionLibrary::FunctionLibrary(const wire::FunctionDefLibrary& library) { (void)add(library); }

Status FunctionLibrary::add(const wire::FunctionDefLibrary& more) {
  for (const auto& function : more.function()) {
    const std::string& name = function.signature().name();
    if (auto found = functions_.find(name); found != functions_.end()) {
      if (!same_function(proto_.function(found->second), function))
        return invalid("Cannot add function '{}' because a different function with the same name already exists.", name);
      continue;
    }
    functions_[name] = proto_.function_size();
    *proto_.add_function() = function;
  }
  for (const auto& gradient : more.gradient()) {
    gradients_[gradient.function_name()] = proto_.gradient_size();
    *proto_.add_gradient() = gradient;
  }
  return absl::OkStatus();
}

const wire::FunctionDef* FunctionLibrary::find(const std::string& name) const {
  auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &proto_.function(found->second);
}

const std::string* FunctionLibrary::gradient_of(const std::string& name) const {
  auto found = gradients_.find(name);
  return found == gradients_.end() ? nullptr : &proto_.gradient(found->second).gradient_func();
}

}  // namespace troupe
