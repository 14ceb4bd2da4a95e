// A graph in memory: nodes with their definitions, types and resolved edges.
#pragma once

#include <troupe/wire/function.pb.h>
#include <troupe/wire/graph.pb.h>
#include <troupe/messaging/status.hpp>
#include <troupe/ops/binding.hpp>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// The functions of a graph by name. Immutable once shared; a graph that grows gets a new one.
class FunctionLibrary {
 public:
  FunctionLibrary() = default;
  explicit FunctionLibrary(const wire::FunctionDefLibrary& library);

  const wire::FunctionDef* find(const std::string& name) const;
  /// Null when the function has no gradient of its own.
  const std::string* gradient_of(const std::string& name) const;
  bool empty() const { return functions_.empty(); }
  const wire::FunctionDefLibrary& proto() const { return proto_; }
  /// Adds what is not there; another body under a known name is refused.
  Status add(const wire::FunctionDefLibrary& more);

 private:
  wire::FunctionDefLibrary proto_;
  std::unordered_map<std::string, int> functions_;
  std::unordered_map<std::string, int> gradients_;
};

using LibraryPtr = std::shared_ptr<const FunctionLibrary>;

struct Edge {
  int node = -1;
  int output = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

struct Node {
  wire::NodeDef def;  // with defaults filled in; its `input` is kept in step by to_graph_def only
  const wire::OpDef* op = nullptr;
  Signature signature;
  std::vector<Edge> inputs;   // data, in order
  std::vector<int> controls;  // control inputs
  std::string device;         // assigned full name; empty before placement

  const std::string& name() const { return def.name(); }
  const std::string& kind() const { return def.op(); }
};

class Graph {
 public:
  /// Fills in defaults, validates every node and edge. Errors are those of TensorFlow's CreateSession.
  static StatusOr<Graph> from(const wire::GraphDef& graph_def, LibraryPtr library);
  /// Appends nodes whose inputs may name old ones.
  Status extend(const wire::GraphDef& graph_def);

  std::vector<Node>& nodes() { return nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  /// -1 when there is none.
  int find(const std::string& name) const;
  /// Adds a node whose edges are already known; its definition gets defaults and a signature.
  StatusOr<int> add(wire::NodeDef def, std::vector<Edge> inputs, std::vector<int> controls, std::string device);
  /// Adds a node as it is, edges and all; for copies of nodes that were validated before. Its name must be new.
  int add_checked(Node node);
  std::string unique_name(const std::string& prefix) const;

  const LibraryPtr& library() const { return library_; }
  void set_library(LibraryPtr library) { library_ = std::move(library); }
  const wire::VersionDef& versions() const { return versions_; }

  /// Data and control consumers of each node.
  std::vector<std::vector<int>> consumers() const;
  /// Sources before sinks; edges out of NextIteration do not count. INVALID_ARGUMENT on a cycle.
  StatusOr<std::vector<int>> topological_order() const;
  wire::GraphDef to_graph_def() const;

 private:
  Status append(const wire::NodeDef& def);
  Status connect(int first);
  Status check_edge(const Node& node, int input, const Edge& edge) const;

  std::vector<Node> nodes_;
  std::unordered_map<std::string, int> by_name_;
  LibraryPtr library_;
  wire::VersionDef versions_;
};

/// "node:1" or "^node" or "node" taken apart; output -1 means a control edge.
std::pair<std::string, int> split_tensor_name(const std::string& name);

}  // namespace troupe
