// Cutting of a step out of a session's graph.
#include <troupe/actors/plan/step_graph.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace troupe {
namespace {

void set_transfer_attrs(wire::NodeDef& def, const char* type_attr, DType type, const std::string& tensor, const std::string& device,
                        std::uint64_t incarnation) {
  auto& attr = *def.mutable_attr();
  attr[type_attr].set_type(static_cast<wire::DataType>(without_ref(type)));
  attr["tensor_name"].set_s(tensor);
  attr["send_device"].set_s(device);
  attr["recv_device"].set_s(device);
  attr["send_device_incarnation"].set_i(static_cast<std::int64_t>(incarnation));
  attr["client_terminated"].set_b(true);
}

std::string node_suffix(const std::string& tensor) {
  auto [name, output] = split_tensor_name(tensor);
  return fmt::format("{}_{}", name, output);
}

bool is_placeholder(const Node& node) { return node.kind() == "Placeholder" || node.kind() == "PlaceholderV2"; }

/// Marks everything that the roots need; edges out of fed outputs are not followed.
class Need {
 public:
  using Connections = std::map<std::pair<int, int>, Edge>;
  Need(const Graph& graph, const std::set<std::pair<int, int>>& fed, const Connections& connections)
      : graph_(graph), fed_(fed), connections_(connections), needed_(graph.nodes().size(), false) {}

  void mark(int root) {
    std::vector<int> open{root};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (needed_[static_cast<std::size_t>(at)]) continue;
      needed_[static_cast<std::size_t>(at)] = true;
      for (const Edge& e : graph_.node(at).inputs) {
        if (auto other = connections_.find({e.node, e.output}); other != connections_.end()) open.push_back(other->second.node);
        else if (!fed_.contains({e.node, e.output})) open.push_back(e.node);
      }
      for (int c : graph_.node(at).controls)
        if (!fed_.contains({c, 0}) || !is_placeholder(graph_.node(c))) open.push_back(c);
    }
  }
  bool operator[](int i) const { return needed_[static_cast<std::size_t>(i)]; }

 private:
  const Graph& graph_;
  const std::set<std::pair<int, int>>& fed_;
  const Connections& connections_;
  std::vector<bool> needed_;
};

}  // namespace

std::string client_key(const std::string& client_device, std::uint64_t incarnation, const std::string& tensor) {
  return fmt::format("{};{:016x};{};{};0:0", client_device, incarnation, client_device, tensor);
}

StatusOr<Graph> cut_step(const Graph& graph, const StepShape& shape, const std::string& client_device, std::uint64_t client_incarnation) {
  auto output_of = [&](const std::string& tensor) -> std::pair<int, int> {
    auto [name, output] = split_tensor_name(tensor);
    const int node = graph.find(name);
    if (node < 0 || output < 0 || output >= static_cast<int>(graph.node(node).signature.outputs.size())) return {-1, 0};
    return {node, output};
  };
  std::set<std::pair<int, int>> fed;
  for (const auto& feed : shape.feeds) {
    auto at = output_of(feed);
    if (at.first < 0) return not_found("FeedInputs: unable to find feed output {}", feed);
    if (!fed.insert(at).second) return invalid("Endpoint \"{}\" fed more than once.", feed);
  }
  Need::Connections connections;
  for (const auto& [from, to] : shape.connections) {
    const auto source = output_of(from), place = output_of(to);
    if (source.first < 0 || place.first < 0) return invalid("Tensor connection from {} to {}: no such tensor", from, to);
    if (fed.contains(place) || connections.contains(place)) return invalid("Endpoint \"{}\" fed more than once.", to);
    connections[place] = Edge{source.first, source.second};
  }
  Need need(graph, fed, connections);
  for (const auto& fetch : shape.fetches) {
    auto at = output_of(fetch);
    if (at.first < 0) {
      auto [name, output] = split_tensor_name(fetch);
      if (graph.find(name) < 0) return not_found("FetchOutputs node {}: not found", fetch);
      return invalid("FetchOutputs {}: output index too large, must be < {}", fetch, graph.node(graph.find(name)).signature.outputs.size());
    }
    if (fed.contains(at)) return invalid("{} is both fed and fetched.", fetch);
    need.mark(at.first);
  }
  std::string missing;
  for (const auto& target : shape.targets) {
    const int node = graph.find(split_tensor_name(target).first);
    if (node < 0) missing += target + " ";
    else need.mark(node);
  }
  if (!missing.empty()) return not_found("PruneForTargets: Some target nodes not found: {}", missing);

  wire::GraphDef empty;
  *empty.mutable_versions() = graph.versions();
  TRY_ASSIGN(Graph step, Graph::from(empty, graph.library()));
  std::map<std::pair<int, int>, int> feed_nodes;
  for (const auto& feed : shape.feeds) {
    const auto at = output_of(feed);
    wire::NodeDef def;
    def.set_name("_recv_" + node_suffix(feed));
    def.set_op("_Recv");
    set_transfer_attrs(def, "tensor_type", graph.node(at.first).signature.outputs[static_cast<std::size_t>(at.second)], feed, client_device,
                       client_incarnation);
    TRY_ASSIGN(feed_nodes[at], step.add(std::move(def), {}, {}, client_device));
  }
  std::vector<int> moved(graph.nodes().size(), -1);
  for (int i = 0; i < graph.size(); ++i)
    if (need[i]) moved[static_cast<std::size_t>(i)] = step.add_checked(graph.node(i));
  auto place_of = [&](Edge e) {
    if (auto other = connections.find({e.node, e.output}); other != connections.end()) e = other->second;
    auto feed = feed_nodes.find({e.node, e.output});
    return feed != feed_nodes.end() ? Edge{feed->second, 0} : Edge{moved[static_cast<std::size_t>(e.node)], e.output};
  };
  for (int i = 0; i < graph.size(); ++i) {
    if (!need[i]) continue;
    Node& node = step.node(moved[static_cast<std::size_t>(i)]);
    for (Edge& e : node.inputs) e = place_of(e);
    std::vector<int> controls;
    for (int c : node.controls) {
      auto feed = feed_nodes.find({c, 0});
      const int now = moved[static_cast<std::size_t>(c)] >= 0 ? moved[static_cast<std::size_t>(c)] : (feed != feed_nodes.end() ? feed->second : -1);
      if (now >= 0) controls.push_back(now);
    }
    node.controls = std::move(controls);
  }
  std::set<std::string> sent;
  for (const auto& fetch : shape.fetches) {
    if (!sent.insert(fetch).second) continue;
    const auto at = output_of(fetch);
    wire::NodeDef def;
    def.set_name("_send_" + node_suffix(fetch));
    def.set_op("_Send");
    set_transfer_attrs(def, "T", graph.node(at.first).signature.outputs[static_cast<std::size_t>(at.second)], fetch, client_device,
                       client_incarnation);
    TRY(step.add(std::move(def), {place_of(Edge{at.first, at.second})}, {}, client_device).status());
  }
  return step;
}

Status check_fetches(const Graph& graph, const std::set<std::string>& unfed, const std::vector<std::string>& fetches) {
  std::vector<bool> seen(graph.nodes().size(), false);
  std::vector<int> open;
  auto visit = [&](int node) {
    if (node < 0 || seen[static_cast<std::size_t>(node)]) return;
    seen[static_cast<std::size_t>(node)] = true;
    open.push_back(node);
  };
  for (const auto& fetch : fetches) visit(graph.find(split_tensor_name(fetch).first));
  while (!open.empty()) {
    const Node& node = graph.node(open.back());
    open.pop_back();
    for (const Edge& e : node.inputs) {
      const std::string name = fmt::format("{}:{}", graph.node(e.node).name(), e.output);
      if (unfed.contains(name)) return invalid("Fetch {} can't be computed from the feeds that have been fed so far.", name);
      visit(e.node);
    }
    for (int c : node.controls) visit(c);
  }
  return absl::OkStatus();
}

}  // namespace troupe
