// Variables of a graph that is built: resource variables, and references for graphs of the old kind.
#pragma once

#include <troupe/ops/builder/builder.hpp>

namespace troupe::build {

/// A handle like Out; copies name the same variable. Where an output is wanted, the variable is read anew at that place of the graph.
struct Variable {
  Out handle;      // the resource, or the reference
  Op initializer;  // assigns the initial value
  Out snapshot;    // a value read once, for who saves it
  DType dtype = DType::invalid;
  PartialShape shape;
  bool resource = true;
  bool trainable = true;

  const std::string& name() const { return op_of(handle).name(); }
  bool valid() const { return handle.valid(); }
  Out read() const;
  operator Out() const { return read(); }
  Op assign(const Out& value) const;
  Op assign_add(const Out& value, const std::string& name = {}) const;
  Op assign_sub(const Out& value) const;
  /// Adds rows of `updates` to the rows that `indices` name.
  Op scatter_add(const Out& indices, const Out& updates) const;
  Op scatter_sub(const Out& indices, const Out& updates) const;
};

/// Builds an initial value. Called once, within the variable's own scope.
using Initial = std::function<Out(Builder&)>;

Initial value_of(Tensor value);
template <class T>
requires std::is_arithmetic_v<T> Initial value_of(T value) { return value_of(Tensor::scalar<T>(value)); }
Initial zeros(Shape shape, DType type = DType::f32);
Initial ones(Shape shape, DType type = DType::f32);
Initial filled(Shape shape, double value, DType type = DType::f32);
/// Seeds are those of the ops: equal ones on equal graphs give equal values; two zeros give others on each run.
Initial random_uniform(Shape shape, double low, double high, std::int64_t seed = 0, std::int64_t seed2 = 0, DType type = DType::f32);
Initial random_normal(Shape shape, double stddev, std::int64_t seed = 0, std::int64_t seed2 = 0, DType type = DType::f32);
Initial truncated_normal(Shape shape, double stddev, std::int64_t seed = 0, std::int64_t seed2 = 0, DType type = DType::f32);
/// Uniform within sqrt(6 / (fan in + fan out)); the last two dimensions are the layer's, those before them a window.
Initial glorot_uniform(Shape shape, std::int64_t seed = 0, std::int64_t seed2 = 0, DType type = DType::f32);

struct VariableOptions {
  bool trainable = true;
  bool resource = true;
  bool local = false;  // of one worker: not among the builder's variables, which the chief initializes and saves
  std::string container = {};
};

/// Names as TensorFlow has them: "w", "w/Initializer/...", "w/Assign", "w/Read/ReadVariableOp". The shape is that of the initial value.
Variable variable(Builder& b, const std::string& name, const Initial& initial, const VariableOptions& options = {});
/// Counts steps; an int64 that starts at zero.
Variable global_step(Builder& b);

}  // namespace troupe::build
