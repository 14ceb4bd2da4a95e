// Shape inference: what is known of the shapes of outputs before anything runs.
#pragma once

#include <troupe/ops/builder/builder.hpp>

#include <optional>

namespace troupe::build {

/// Sizes with -1 for unknown; no value for an unknown rank.
using Sizes = std::optional<std::vector<std::int64_t>>;

/// What a shape function sees of its node, and where it puts what it finds. Outputs that it does not set stay unknown.
class ShapeCall {
 public:
  ShapeCall(const Builder& builder, const Builder::Made& made) : builder_(builder), made_(made), out_(made.signature.outputs.size()) {}

  int inputs() const { return static_cast<int>(made_.inputs.size()); }
  Sizes in(int i) const;
  /// A constant input; null where it is not one.
  const Tensor* value(int i) const;
  /// The numbers of a constant input of integers.
  Sizes numbers(int i) const;
  /// The shape that an input of integers says, as far as it is known.
  Sizes shape_said_by(int i) const;
  template <class T>
  T attr(const std::string& name) const {
    auto found = Binding(made_.def, *made_.op, made_.signature).attr<T>(name);
    return found.ok() ? std::move(found).value() : T{};
  }
  const Builder::Made& made() const { return made_; }
  void set(int i, const Sizes& sizes);
  std::vector<PartialShape> take() { return std::move(out_); }

 private:
  const Builder& builder_;
  const Builder::Made& made_;
  std::vector<PartialShape> out_;
};

using ShapeFunction = std::function<Status(ShapeCall&)>;
using ShapeTable = std::unordered_map<std::string, ShapeFunction>;

void add_math_shapes(ShapeTable& table);
void add_array_shapes(ShapeTable& table);
void add_nn_shapes(ShapeTable& table);
void add_state_shapes(ShapeTable& table);

/// Refuses a node whose inputs contradict each other, by name. Ops without a function have unknown shapes.
StatusOr<std::vector<PartialShape>> infer_shapes(const Builder& builder, const Builder::Made& made);

/// Unknown where either is, and an error where both are known and differ.
StatusOr<std::int64_t> merge_dims(std::int64_t a, std::int64_t b);
StatusOr<Sizes> merge_sizes(const Sizes& a, const Sizes& b);
StatusOr<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b);
StatusOr<Sizes> broadcast_sizes(const Sizes& a, const Sizes& b);
Status want_rank(const Sizes& sizes, int rank);
/// A negative axis counts from the end; an error where it is out of range.
StatusOr<int> axis_of(std::int64_t axis, int rank);
std::string to_text(const Sizes& sizes);
/// An output of integers read as a shape, through constants and the ops that shapes are usually put together with.
Sizes shape_said_by(const Builder& builder, const Out& out);

}  // namespace troupe::build
