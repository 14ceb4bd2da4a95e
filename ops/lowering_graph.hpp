// The graph that is being lowered, and the words in which lowerings are written.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::lowering {

/// Where a node is asked to be: a partial device name.
using Where = std::string;

/// The functions whose bodies a node came out of, innermost first.
struct Lineage {
  std::string function;
  std::shared_ptr<const Lineage> outer;
  bool branch = false;  // of a conditional or a loop, not of a call
};
using LineagePtr = std::shared_ptr<const Lineage>;
bool contains(const LineagePtr& lineage, const std::string& function);
bool in_branch(const LineagePtr& lineage);

/// A function body, made once for all its calls.
struct Body {
  Graph graph;
  std::vector<int> done;  // nodes that a call must have run before it is over
  std::vector<Edge> results;
  std::vector<bool> steered;     // nodes that may be dead or in a loop
  bool promises_effects = true;  // all that it does to the world is among what a call must have run
};

/// Where and with what a body is put into the graph.
struct Site {
  std::string prefix;  // of the names of its nodes
  Where where;
  std::vector<Edge> arguments;
  int gate = -1;                // what nodes without inputs wait for; -1: nothing
  bool gate_arguments = false;  // arguments wait for the gate, too
  bool steered = false;         // the site may be dead or is in a loop
  LineagePtr lineage;
  std::vector<std::string> callers;  // see Editor::callers
};

/// What has become of a body.
struct Inlined {
  std::vector<Edge> results;
  std::vector<int> done;
};

using Attr = std::pair<const char*, wire::AttrValue>;
wire::AttrValue type_attr(DType type);
wire::AttrValue types_attr(const std::vector<DType>& types);
wire::AttrValue int_attr(std::int64_t value);
wire::AttrValue text_attr(const std::string& value);
wire::AttrValue bool_attr(bool value);

/// Edits a graph: adds nodes, puts in bodies, hands the consumers of a node over to others.
class Editor {
 public:
  Editor(Graph& graph, bool optimized);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Node& node(int i) { return graph_.node(i); }
  DType type_of(const Edge& e) { return without_ref(node(e.node).signature.outputs[static_cast<std::size_t>(e.output)]); }
  bool steered(int node) const { return steered_[static_cast<std::size_t>(node)]; }
  const LineagePtr& lineage(int node) const { return lineages_[static_cast<std::size_t>(node)]; }
  /// TensorFlow's optimizer would have put in what it can.
  bool optimized() const { return optimized_; }
  /// A node of the graph as it was given, of which nothing but values is taken, and by other nodes.
  bool only_read(int node) const { return static_cast<std::size_t>(node) < only_read_.size() && only_read_[static_cast<std::size_t>(node)]; }

  /// How TensorFlow runs the function of a node: in its caller's place, apart, or apart and on devices of its own choice.
  enum class Called { in_place, apart, apart_on_devices };
  /// What an error in that function's body is to mention, innermost first.
  std::vector<std::string> callers(int node, Called called);
  /// The same for conditionals and loops.
  std::vector<std::string> callers_of_branch(int node);

  /// A node whose name begins with `name`; it is steered as its site is.
  StatusOr<int> add(const char* op, const std::string& name, std::vector<Edge> inputs, std::vector<int> controls, const Where& where,
                    const std::vector<Attr>& attrs, bool steered);
  /// The same for ops with one input whose type is attribute T. A handle stays where it is, whatever `where` says.
  StatusOr<Edge> add_on(const char* op, const std::string& name, const Edge& input, std::vector<int> controls, const Where& where, bool steered);
  StatusOr<int> add_no_op(const std::string& name, std::vector<int> controls, const Where& where, bool steered);
  /// Where a node that passes on this value is to be.
  Where where_for(const Edge& value, const Where& otherwise);

  /// The body of a function or of its gradient, checked against the types that its caller has for it.
  StatusOr<const Body*> body_of(const wire::NameAttrList& function, const std::vector<DType>& arguments, const std::vector<DType>& results,
                                bool gradient = false);
  StatusOr<Inlined> put_in(const Body& body, const Site& site);

  /// Ends a lowering: the node stands for the results from now on, and is over when these controls are.
  Status replace(int node, std::vector<Edge> results, std::vector<int> done);
  /// Applies what replace promised to all nodes. With `pass_by`, consumers take the results directly.
  Status finish(bool pass_by);

  /// The value as a scalar bool.
  StatusOr<Edge> as_bool(const Edge& value, const std::string& name, const Where& where, bool steered);

 private:
  int append(Node node, bool steered, LineagePtr lineage);
  Edge final_source(Edge e) const;

  Graph& graph_;
  bool optimized_;
  std::vector<bool> only_read_;
  std::vector<bool> steered_;
  std::vector<LineagePtr> lineages_;
  std::map<std::string, Body> bodies_;
  std::map<int, std::vector<Edge>> replaced_;
};

/// Nodes that come after a Switch or an Enter: their values may be dead, or one for each iteration.
std::vector<bool> find_steered(const Graph& graph);

/// A node's wish, completed by what its caller wishes.
Where merged(const Where& own, const Where& callers);

Status lower_conditional(Editor& editor, int node);
/// False when the loop has to run at run time.
StatusOr<bool> lower_loop(Editor& editor, int node);

}  // namespace troupe::lowering
