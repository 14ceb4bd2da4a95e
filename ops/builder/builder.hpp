// The graph builder: writes standard GraphDefs, with names, scopes, devices and shapes as TensorFlow's Python gives them.
//
// A `Builder` owns the graph; `Op` and `Out` are small handles into it, valid as long as it lives and does not move. Nothing throws: the first
// mistake is kept, what is built on a mistake is a mistake too, and `graph()` returns it in place of the graph. Used by one thread.
//
//   build::Builder b;
//   Out x = b.placeholder(DType::f32, dims({-1, 784}), "x");
//   Variable w = variable(b, "w", glorot_uniform({784, 10}));
//   Out y = softmax(matmul(x, w));
//   StatusOr<wire::GraphDef> graph = b.graph();
#pragma once

#include <troupe/wire/graph.pb.h>
#include <troupe/ops/builder/attr.hpp>
#include <troupe/ops/graph.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::build {

class Builder;
struct Variable;

/// A shape with -1 where a size is not known.
inline PartialShape dims(std::initializer_list<std::int64_t> sizes) { return PartialShape(std::span(sizes.begin(), sizes.size())); }

/// One output of a node. Empty after a mistake.
struct Out {
  Builder* builder = nullptr;
  int node = -1;
  int index = 0;

  bool valid() const { return node >= 0; }
  /// Without the mark of a reference; invalid when empty.
  DType dtype() const;
  const PartialShape& shape() const;
  int rank() const { return shape().rank(); }
  /// What a session is asked for: "MatMul:0".
  std::string name() const;
  friend bool operator==(const Out&, const Out&) = default;
};

/// A node. Stands for its first output where an output is wanted.
struct Op {
  Builder* builder = nullptr;
  int node = -1;

  bool valid() const { return node >= 0; }
  const std::string& name() const;
  const std::string& kind() const;
  const std::string& device() const;
  int outputs() const;
  int inputs() const;
  Out operator[](int i) const;
  Out input(int i) const;
  operator Out() const { return valid() ? Out{builder, node, 0} : Out{}; }
  friend bool operator==(const Op&, const Op&) = default;
};

inline Op op_of(const Out& out) { return {out.builder, out.node}; }

/// What an argument of an op gets: one output, or a list of them.
struct In {
  std::vector<Out> outs;
  bool list = false;
  template <class T>
  requires std::is_convertible_v<const T&, Out> In(const T& out) : outs{static_cast<Out>(out)} {}
  In(std::vector<Out> many) : outs(std::move(many)), list(true) {}
};

/// Chooses the device of a node; sees the one that scopes further in gave it.
using DeviceFunction = std::function<std::string(const wire::NodeDef&)>;

/// The fields of both names; where both have one, that of `preferred`.
std::string merge_devices(const std::string& preferred, const std::string& fallback);

class Builder {
 public:
  Builder();
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Any op by name. Types and lengths that follow from the inputs need not be said, nor attributes that have defaults. A name that ends in "/"
  /// is taken as it is; others are made unique in the scope. Without a name the op's own is used.
  Op op(const std::string& kind, const std::vector<In>& inputs, const Attrs& attrs = {}, const std::string& name = {});

  Out constant(const Tensor& value, const std::string& name = "Const");
  template <class T>
  requires std::is_arithmetic_v<T> Out constant(T value, const std::string& name = "Const") { return constant(Tensor::scalar<T>(value), name); }
  template <class T>
  Out constant(const std::vector<T>& values, const std::string& name = "Const") {
    return constant(Tensor::vector<T>(values), name);
  }
  /// A number in the type of `like`.
  Out number(double value, DType type, const std::string& name = "Const");
  Out placeholder(DType type, const PartialShape& shape, const std::string& name = "Placeholder");
  /// A node that runs after all of these.
  Op group(const std::vector<Op>& ops, const std::string& name = "group_deps");

  /// What a scope sets holds until the scope's end; scopes end in reverse order.
  class Scope;
  /// Prefixes names. Unique like the name of a node; ending in "/" it is entered again; empty it is the root.
  [[nodiscard]] Scope scope(const std::string& name);
  [[nodiscard]] Scope device(const std::string& name);
  [[nodiscard]] Scope device(DeviceFunction choose);
  /// Everything built inside runs after these.
  [[nodiscard]] Scope after(const std::vector<Op>& ops);
  /// Outside of all control dependencies.
  [[nodiscard]] Scope after_nothing();
  /// Everything built inside sits where this op sits; devices of scopes further out do not count.
  [[nodiscard]] Scope beside(Op op);
  /// The same by the name of a node that may not exist yet.
  [[nodiscard]] Scope beside(const std::string& name);
  bool is_beside() const { return !context_.beside.empty(); }
  const std::string& scope_name() const { return context_.scope; }

  /// All variables in the order of their making; those of optimizers included.
  const std::vector<Variable>& variables() const { return variables_; }
  void remember(const Variable& variable);
  /// Runs the initializers of all variables made so far.
  Op initializer(const std::string& name = "init");

  /// Adds the nodes of another graph, each name with the prefix and "/" in front where there is one. Nodes may stand in any order.
  Status add_graph(const wire::GraphDef& graph, const std::string& prefix = {});
  /// NOT_FOUND when there is no such node; "node:1" finds the second output.
  StatusOr<Op> find(const std::string& name);
  StatusOr<Out> find_output(const std::string& name);

  /// Keeps the first mistake. Says OK where there is none.
  void fail(Status status);
  const Status& status() const { return status_; }
  StatusOr<wire::GraphDef> graph() const;
  int size() const { return static_cast<int>(nodes_.size()); }

  struct Made {
    wire::NodeDef def;
    const wire::OpDef* op = nullptr;
    Signature signature;
    std::vector<Out> inputs;
    std::vector<int> controls;
    std::vector<PartialShape> shapes;
    Tensor value;  // of a constant
  };
  const Made& made(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  /// Says more of an output's shape. A contradiction is a mistake.
  void refine(Out out, const PartialShape& shape);
  std::string unique_name(const std::string& name);

 private:
  /// Nodes of the group need no edge to its controls where an input of theirs is of the group already.
  struct ControlGroup {
    std::vector<int> controls;
    std::shared_ptr<std::set<int>> nodes;
  };
  struct Context {
    std::string scope;  // empty, or ending in "/"
    std::vector<DeviceFunction> devices;
    std::vector<ControlGroup> controls;
    std::vector<std::string> beside;
    std::string beside_device;
  };
  StatusOr<Op> add(const std::string& kind, const std::vector<In>& inputs, const Attrs& attrs, const std::string& name);
  StatusOr<Op> keep(Made made);
  void place(wire::NodeDef& def) const;
  std::vector<int> controls_for(const std::vector<Out>& inputs) const;

  std::deque<Made> nodes_;
  std::unordered_map<std::string, int> by_name_;
  std::unordered_map<std::string, int> used_;  // names in lower case, with how often they were asked for
  std::vector<Variable> variables_;
  Context context_;
  std::vector<LibraryPtr> libraries_;
  Status status_;
};

class Builder::Scope {
 public:
  Scope(Scope&& other) noexcept : builder_(std::exchange(other.builder_, nullptr)), before_(std::move(other.before_)) {}
  Scope& operator=(Scope&&) = delete;
  ~Scope() {
    if (builder_) builder_->context_ = std::move(before_);
  }

 private:
  friend class Builder;
  explicit Scope(Builder* builder) : builder_(builder), before_(builder->context_) {}
  Builder* builder_;
  Context before_;
};

}  // namespace troupe::build
