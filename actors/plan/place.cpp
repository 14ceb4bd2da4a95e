// Placement: groups first, then a device for each, with TensorFlow's preferences.
#include <troupe/actors/plan/place.hpp>

#include <troupe/actors/plan/colocation.hpp>
#include <troupe/actors/plan/placement_text.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <tuple>

namespace troupe {
namespace {

/// Sources before users, otherwise as they came: the order in which TensorFlow numbers nodes, and so meets errors.
std::vector<int> numbering(const Graph& graph) {
  auto counts = [&](int source) { return graph.node(source).kind() != "NextIteration" && graph.node(source).kind() != "RefNextIteration"; };
  std::vector<int> pending(graph.nodes().size(), 0), order;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.size(); ++i) {
    int& waits = pending[static_cast<std::size_t>(i)];
    for (const Edge& e : graph.node(i).inputs) waits += counts(e.node);
    for (int c : graph.node(i).controls) waits += counts(c);
    if (waits == 0) ready.push(i);
  }
  const auto users = graph.consumers();
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    if (!counts(next)) continue;
    for (int user : users[static_cast<std::size_t>(next)])
      if (--pending[static_cast<std::size_t>(user)] == 0) ready.push(user);
  }
  return order;
}

struct Candidate {
  std::string name;
  DeviceName parts;
};

/// The best first: CPUs, those of the master's own task before others, then by name.
StatusOr<std::vector<Candidate>> by_preference(const PlacementRequest& request) {
  TRY_ASSIGN(const DeviceName own, parse_device(request.default_device));
  std::vector<Candidate> devices;
  for (const auto& name : request.devices) {
    TRY_ASSIGN(DeviceName parts, parse_device(name));
    devices.push_back({name, std::move(parts)});
  }
  auto rank = [&](const Candidate& d) { return std::tuple(d.parts.type != "CPU", !same_address_space(d.parts, own), std::string_view(d.name)); };
  std::sort(devices.begin(), devices.end(), [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  return devices;
}

/// A node without inputs whose one value goes to others: it is better off with them.
bool is_generator(const Node& node) { return node.inputs.empty() && node.signature.outputs.size() == 1 && !is_ref(node.signature.outputs[0]); }

/// A node that looks at the form of a value, not at the value.
bool is_metadata(const Node& node) { return node.kind() == "Shape" || node.kind() == "Size" || node.kind() == "Rank"; }

class Placement {
 public:
  Placement(const Graph& graph, const PlacementRequest& request, std::vector<Candidate> devices)
      : graph_(graph),
        request_(request),
        devices_(std::move(devices)),
        order_(numbering(graph)),
        groups_(graph, order_, request.allow_soft_placement),
        candidates_(graph.nodes().size()),
        chosen_(graph.nodes().size(), -1) {}

  /// The name of a device for each node.
  StatusOr<std::vector<std::string>> run() {
    if (order_.size() != graph_.nodes().size()) return invalid("The graph has a cycle");
    TRY(groups_.gather());
    std::vector<int> generators;
    for (int i : order_) {
      if (!graph_.node(i).device.empty() || !is_generator(graph_.node(i))) TRY(place(i, preferred_by_input(i)));
      else generators.push_back(i);
    }
    const auto users = graph_.consumers();
    for (int i : generators) TRY(place(i, preferred_by_users(users[static_cast<std::size_t>(i)])));
    std::vector<std::string> names;
    for (int device : chosen_) names.push_back(devices_[static_cast<std::size_t>(device)].name);
    return names;
  }

 private:
  int chosen(int node) const { return chosen_[static_cast<std::size_t>(node)]; }

  int preferred_by_input(int node) const {
    const Node& n = graph_.node(node);
    return is_metadata(n) ? chosen(n.inputs[0].node) : -1;
  }

  int preferred_by_users(const std::vector<int>& users) const {
    if (users.empty()) return -1;
    const int first = chosen(users[0]);
    return std::all_of(users.begin(), users.end(), [&](int user) { return chosen(user) == first; }) ? first : -1;
  }

  Status place(int node, int preferred) {
    const int group = groups_.group_of(node);
    std::vector<int>& candidates = candidates_[static_cast<std::size_t>(group)];
    if (candidates.empty()) {
      candidates = find_candidates(groups_.wish_of(group));
      if (candidates.empty()) return nothing_fits(node, group);
    }
    const bool may = std::find(candidates.begin(), candidates.end(), preferred) != candidates.end();
    const int device = may ? preferred : candidates[0];
    chosen_[static_cast<std::size_t>(node)] = device;
    candidates = {device};
    groups_.assign(group, devices_[static_cast<std::size_t>(device)].parts);
    return absl::OkStatus();
  }

  std::vector<int> find_candidates(const Wish& wish) const {
    auto found = matching(wish.requested);
    if (!found.empty() || !request_.allow_soft_placement) return found;
    // Type and number may give way: those that a resource asks for last, those of a device that is settled never.
    auto relaxed = [&](bool keep_type, bool keep_id) {
      DeviceName name = wish.requested;
      if (!keep_type) name.type.reset();
      if (!keep_id) name.id.reset();
      return matching(name);
    };
    found = relaxed(wish.assigned.type || wish.resource.type, wish.assigned.id || wish.resource.id);
    return found.empty() ? relaxed(wish.assigned.type.has_value(), wish.assigned.id.has_value()) : found;
  }

  std::vector<int> matching(const DeviceName& spec) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (matches(spec, devices_[i].parts)) found.push_back(static_cast<int>(i));
    return found;
  }

  Status nothing_fits(int node, int group) {
    auto own = parse_device(graph_.node(node).def.device());
    if (own.ok() && *own == groups_.wish_of(group).requested) return no_such_device(graph_.node(node), request_.devices);
    return no_device_for_group(graph_, node, groups_, request_.devices);
  }

  const Graph& graph_;
  const PlacementRequest& request_;
  std::vector<Candidate> devices_;
  std::vector<int> order_;
  Colocation groups_;
  std::vector<std::vector<int>> candidates_;  // of groups; places in devices_
  std::vector<int> chosen_;                   // of nodes; -1 before they are placed
};

}  // namespace

Status place(Graph& graph, const PlacementRequest& request) {
  if (request.devices.empty()) return failed_precondition("No devices are registered");
  TRY_ASSIGN(auto devices, by_preference(request));
  TRY_ASSIGN(auto names, Placement(graph, request, std::move(devices)).run());
  for (int i = 0; i < graph.size(); ++i) graph.node(i).device = std::move(names[static_cast<std::size_t>(i)]);
  return absl::OkStatus();
}

void unsettle(Graph& graph) {
  for (Node& node : graph.nodes())
    if (!node.op->is_stateful()) node.device.clear();
}

}  // namespace troupe
