// Forming of colocation groups.
#include <troupe/actors/plan/colocation.hpp>

#include <troupe/actors/plan/placement_text.hpp>
#include <troupe/ops/definitions.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace troupe {
namespace {

constexpr std::string_view class_prefix = "loc:@";

bool is_handle(DType type) { return is_ref(type) || type == DType::resource; }

bool makes_handle(const Node& node) { return node.inputs.empty() && node.signature.outputs.size() == 1 && is_handle(node.signature.outputs[0]); }

bool is_dataset(const wire::OpDef& op) {
  if (op.output_arg_size() != 1 || op.output_arg(0).type() != wire::DT_VARIANT) return false;
  if (op.name() == "DatasetFromGraph") return true;
  std::string_view name = op.name();
  if (const auto end = name.find_last_not_of("0123456789"); end + 1 < name.size() && end != name.npos && name[end] == 'V') name = name.substr(0, end);
  return name.ends_with("Dataset");
}

bool is_loop(const Node& node) { return node.kind() == "While" || node.kind() == "StatelessWhile"; }

/// Calls and the like, whose bodies take their place before a step runs: only then does it matter where a handle is.
bool gives_way_to_body(const Node& node) {
  static const std::set<std::string> ops{"PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase"};
  return is_loop(node) || ops.contains(node.kind()) || !find_op(node.kind());
}

/// Functions of a dataset run where its elements are wanted.
bool is_dataset_of_function(const wire::OpDef& op) {
  auto is_function = [](const wire::OpDef::AttrDef& attr) { return attr.type() == "func" || attr.type() == "list(func)"; };
  return op.name().find("Dataset") != std::string::npos && std::any_of(op.attr().begin(), op.attr().end(), is_function);
}

/// Whether an edge of this type ties a node to the other end.
bool is_bound(const Node& source, const Node& user, DType type) {
  if (type == DType::variant) return is_dataset(*source.op) && is_dataset(*user.op);
  return is_handle(type) && !gives_way_to_body(user) && !gives_way_to_body(source) && !is_dataset_of_function(*user.op);
}

/// Where a value comes from, seen through loops, which hand on what is in their places.
int origin(const Graph& graph, Edge edge) {
  while (is_loop(graph.node(edge.node))) edge = graph.node(edge.node).inputs[static_cast<std::size_t>(edge.output)];
  return edge.node;
}

bool compatible(const DeviceName& a, const DeviceName& b) { return merge(a, b).ok(); }

template <class T>
void overlay_part(std::optional<T>& place, const std::optional<T>& from) {
  if (from) place = from;
}

/// Every part that `from` sets replaces the one in `name`.
void overlay(DeviceName& name, const DeviceName& from) {
  overlay_part(name.job, from.job);
  overlay_part(name.replica, from.replica);
  overlay_part(name.task, from.task);
  overlay_part(name.type, from.type);
  overlay_part(name.id, from.id);
}

StatusOr<Wish> merge(const Wish& a, const Wish& b, bool soft) {
  Wish merged;
  TRY_ASSIGN(merged.assigned, merge(a.assigned, b.assigned));
  TRY_ASSIGN(merged.resource, merge(a.resource, b.resource));
  TRY_ASSIGN(merged.requested, merge(a.requested, b.requested, soft));
  overlay(merged.requested, merged.assigned);
  overlay(merged.requested, merged.resource);
  return merged;
}

}  // namespace

Colocation::Colocation(const Graph& graph, const std::vector<int>& order, bool allow_soft_placement)
    : graph_(graph),
      order_(order),
      soft_(allow_soft_placement),
      parents_(graph.nodes().size()),
      ranks_(graph.nodes().size(), 0),
      wishes_(graph.nodes().size()) {
  std::iota(parents_.begin(), parents_.end(), 0);
}

Status Colocation::gather() {
  for (int i : order_) TRY(read_wish(i));
  for (int i : order_) TRY(join_by_edges(i));
  for (int i : order_) TRY(join_by_class(i));
  return absl::OkStatus();
}

int Colocation::group_of(int node) {
  auto parent = [&](int i) -> int& { return parents_[static_cast<std::size_t>(i)]; };
  while (parent(node) != node) node = parent(node) = parent(parent(node));
  return node;
}

void Colocation::assign(int group, const DeviceName& device) {
  Wish& w = wish(group);
  w.assigned = device;
  overlay(w.resource, device);
  overlay(w.requested, device);
}

std::vector<int> Colocation::members_of(int group) {
  std::vector<int> members;
  std::copy_if(order_.begin(), order_.end(), std::back_inserter(members), [&](int i) { return group_of(i) == group; });
  return members;
}

Status Colocation::read_wish(int node) {
  const Node& n = graph_.node(node);
  Wish& w = wish(node);
  const bool placed = !n.device.empty();
  auto named = parse_device(placed ? n.device : n.def.device());
  if (!named.ok()) {
    const auto place = std::find(order_.begin(), order_.end(), node) - order_.begin();
    return malformed_device(graph_, node, static_cast<int>(place));
  }
  w.requested = *named;
  if (placed) w.assigned = *named;
  else if (makes_handle(n)) w.resource = *named;
  return absl::OkStatus();
}

Status Colocation::join_by_edges(int node) {
  const Node& user = graph_.node(node);
  for (std::size_t k = 0; k < user.inputs.size(); ++k) {
    const int source = origin(graph_, user.inputs[k]);
    if (is_bound(graph_.node(source), user, user.signature.inputs[k])) TRY(join_over_edge(source, node));
  }
  return absl::OkStatus();
}

Status Colocation::join_over_edge(int source, int user) {
  const Node &from = graph_.node(source), &to = graph_.node(user);
  const Wish& theirs = wish(group_of(source));
  Wish& ours = wish(group_of(user));
  auto conflict = [&](const char* kind, const DeviceName& a, const DeviceName& b) {
    return invalid(
        "Cannot place the graph because a reference or resource edge connects colocation groups with incompatible {} devices: "
        "{} vs {}. The edge src node is name='{}' (op='{}'), and the dst node is name='{}' (op='{}').",
        kind, to_string(a), to_string(b), from.name(), from.kind(), to.name(), to.kind());
  };
  if (!compatible(theirs.assigned, ours.assigned)) return conflict("assigned", theirs.assigned, ours.assigned);
  if (!compatible(theirs.resource, ours.resource)) return conflict("resource", theirs.resource, ours.resource);
  if (!compatible(theirs.requested, ours.requested)) {
    ours.requested = theirs.requested;
    overlay(ours.requested, ours.assigned);
    overlay(ours.requested, ours.resource);
  }
  Status status = join(source, user);
  if (status.ok()) return status;
  return with_node(prepend_text("Nodes were connected by a reference connection (requiring them to be on the same device), but the two nodes "
                                "were assigned two different devices: ",
                                status),
                   to);
}

Status Colocation::join_by_class(int node) {
  const Node& n = graph_.node(node);
  if (auto found = n.def.attr().find("_class"); found != n.def.attr().end())
    for (const std::string& entry : found->second.list().s())
      if (entry.starts_with(class_prefix)) TRY(join_class(node, entry.substr(class_prefix.size())));
  return join_class(node, n.name());
}

Status Colocation::join_class(int node, const std::string& name) {
  auto [first, fresh] = classes_.try_emplace(name, node);
  if (fresh) return absl::OkStatus();
  Status status = join(node, first->second);
  return status.ok() || soft_ ? absl::OkStatus() : with_node(status, graph_.node(node));
}

Status Colocation::join(int a, int b) {
  const int x = group_of(a), y = group_of(b);
  if (x == y) return absl::OkStatus();
  auto rank = [&](int i) -> int& { return ranks_[static_cast<std::size_t>(i)]; };
  // The deeper tree swallows the other: it also decides on which of two conflicting devices a text names first.
  const int into = rank(x) < rank(y) ? y : x, from = into == x ? y : x;
  auto merged = merge(wish(into), wish(from), soft_);
  if (!merged.ok())
    return invalid("Cannot colocate nodes {{{{colocation_node {}}}}} and {{{{colocation_node {}}}}}: {}", graph_.node(a).name(),
                   graph_.node(b).name(), text_of(merged.status()));
  wish(into) = *std::move(merged);
  parents_[static_cast<std::size_t>(from)] = into;
  if (rank(x) == rank(y)) ++rank(into);
  return absl::OkStatus();
}

}  // namespace troupe
