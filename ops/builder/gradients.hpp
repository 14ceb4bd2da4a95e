// Gradients of a graph, built into the graph itself.
#pragma once

#include <troupe/ops/builder/variable.hpp>

#include <variant>

namespace troupe::build {

/// A gradient of which only some rows are not zero: values[i] belongs to row indices[i]; rows may come more than once.
struct IndexedSlices {
  Out values, indices, dense_shape;
};

/// Nothing, a tensor, or some of its rows.
class Grad {
 public:
  Grad() = default;
  Grad(const Out& dense) {
    if (dense.valid()) value_ = dense;
  }
  Grad(const Op& op) : Grad(Out(op)) {}
  Grad(const IndexedSlices& sparse) {
    if (sparse.values.valid()) value_ = sparse;
  }
  bool none() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_sparse() const { return std::holds_alternative<IndexedSlices>(value_); }
  const IndexedSlices& sparse() const { return std::get<IndexedSlices>(value_); }
  /// The whole tensor; rows are summed into one where need be. Empty when there is none.
  Out dense() const;

 private:
  std::variant<std::monostate, Out, IndexedSlices> value_;
};

/// What each x adds to the sum of all ys; none where nothing flows. A variable is differentiated by its handle. An op on the way that has no
/// gradient is a mistake that names it.
std::vector<Grad> gradients(const std::vector<Out>& ys, const std::vector<Out>& xs, const std::vector<Out>& grad_ys = {});
std::vector<Grad> gradients(const Out& y, const std::vector<Variable>& xs);

/// All gradients scaled by one factor, so that their common length is at most `limit`; nothing happens to shorter ones.
std::vector<Grad> clip_by_global_norm(Builder& b, const std::vector<Grad>& grads, double limit);

/// What a gradient function sees of its op. For those who add one.
class Backward {
 public:
  Backward(Op op, std::vector<Grad> dy) : b(*op.builder), op(op), dy_(std::move(dy)), dx_(static_cast<std::size_t>(op.inputs())) {}

  Builder& b;
  const Op op;
  Out x(int i = 0) const { return op.input(i); }
  Out y(int i = 0) const { return op[i]; }
  int inputs() const { return op.inputs(); }
  /// Zeros where nothing comes back.
  Out dy(int i = 0);
  const Grad& raw_dy(int i = 0) const { return dy_[static_cast<std::size_t>(i)]; }
  void give(int i, const Grad& grad) { dx_[static_cast<std::size_t>(i)] = grad; }
  /// These attributes as the op has them.
  Attrs attrs(std::initializer_list<const char*> names) const;
  template <class T>
  T attr(const char* name) const {
    const auto& made = b.made(op.node);
    auto found = Binding(made.def, *made.op, made.signature).attr<T>(name);
    return found.ok() ? std::move(found).value() : T{};
  }
  std::vector<Grad> take() { return std::move(dx_); }

 private:
  std::vector<Grad> dy_, dx_;
};

using GradientFunction = std::function<void(Backward&)>;
using GradientTable = std::unordered_map<std::string, GradientFunction>;
void add_math_gradients(GradientTable& table);
void add_reduction_gradients(GradientTable& table);
void add_array_gradients(GradientTable& table);
void add_pick_gradients(GradientTable& table);
void add_nn_gradients(GradientTable& table);

/// The gradient of one side of a broadcast, summed to the shape that side has.
Out unbroadcast(const Out& grad, const Out& side, const Out& other);

}  // namespace troupe::build
