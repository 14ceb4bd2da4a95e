// Gradients of function bodies, made from the gradients of their ops: what SymbolicGradient stands for.
#pragma once

#include <troupe/ops/graph.hpp>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace troupe::gradients {

/// No gradient flows along this edge.
inline constexpr Edge nothing{-1, 0};

/// Adds nodes to the graph of a gradient. The first failure is kept, so that rules read as formulas.
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  using Attrs = std::vector<std::pair<std::string, wire::AttrValue>>;
  Edge add(const char* op, std::vector<Edge> inputs, const Attrs& attrs);
  /// An op whose attribute T is the type of its first input.
  Edge on(const char* op, std::vector<Edge> inputs, Attrs attrs = {});
  Edge constant(double value, DType dtype);
  Edge integers(const std::vector<std::int32_t>& values);
  Edge shape(const Edge& x) { return on("Shape", {x}); }
  Edge reshape_like(const Edge& x, const Edge& like) { return on("Reshape", {x, shape(like)}); }
  Edge zeros_like(const Edge& x) { return on("ZerosLike", {x}); }
  /// Sums what broadcasting of x with the other has repeated.
  Edge unbroadcast(const Edge& gradient, const Edge& x, const Edge& other);
  /// The sum of several gradients of one value.
  Edge sum(const std::vector<Edge>& gradients);

  DType type_of(const Edge& e) const { return graph_.node(e.node).signature.outputs[static_cast<std::size_t>(e.output)]; }
  const Status& status() const { return status_; }
  Graph& graph() { return graph_; }

 private:
  Graph& graph_;
  Status status_;
};

/// A node and the gradients of its outputs, for a rule to say those of its inputs.
struct Turn {
  Builder& b;
  const Node node;  // a copy: the graph grows
  int index;
  std::vector<Edge> dy;

  const Edge& x(std::size_t i) const { return node.inputs[i]; }
  Edge y(int i = 0) const { return {index, i}; }
  const wire::AttrValue& attr(const char* name) const { return node.def.attr().at(name); }
};

using Rule = std::function<std::vector<Edge>(Turn&)>;
/// Null when none is known; a rule that is empty stands for an op that no gradient passes.
const Rule* find_rule(const std::string& op);

/// Of a body with arguments x and results y, one with arguments x and dy and results dx.
StatusOr<Graph> differentiate(const Graph& body);

}  // namespace troupe::gradients
