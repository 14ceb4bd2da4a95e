// A kernel's view of one invocation: its inputs, its outputs, its node.
#pragma once

#include <troupe/ops/value.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace troupe {

class Step;

/// What a kernel may know of its node; lives as long as the plan.
struct NodeFacts {
  std::string name;
  std::string op;
  std::string device;  // full name
};

/// The frame and iteration of a loop that an invocation belongs to; zero outside of loops.
struct Tag {
  std::uint64_t frame = 0;
  std::int64_t iteration = 0;
};

/// Called exactly once by a kernel that waits, on the device's actor, when its outputs are set.
using Done = std::function<void(Status)>;

/// Valid until the kernel returns, or, for one that takes a Done, until it has called it.
class Call {
 public:
  Call(const NodeFacts& node, std::span<Value> inputs, std::span<Value> outputs, Step& step, Tag tag)
      : node_(&node), inputs_(inputs), outputs_(outputs), step_(&step), tag_(tag) {}

  const NodeFacts& node() const { return *node_; }
  Tag tag() const { return tag_; }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }
  const Tensor& in(int i) const { return inputs_[static_cast<std::size_t>(i)].tensor; }
  Value& input_value(int i) { return inputs_[static_cast<std::size_t>(i)]; }
  Value& output_value(int i) { return outputs_[static_cast<std::size_t>(i)]; }
  Tensor& out(int i) { return outputs_[static_cast<std::size_t>(i)].tensor; }
  void set(int i, Tensor t) { out(i) = std::move(t); }

  /// Memory for output i. Fails as Tensor's constructor does.
  Tensor& alloc(int i, DType dtype, const Shape& shape) { return out(i) = Tensor(dtype, shape); }
  template <class T>
  T* alloc(int i, const Shape& shape) {
    return alloc(i, dtype_of<T>::value, shape).template mutable_data<T>();
  }
  template <class T>
  void set_scalar(int i, T value) {
    set(i, Tensor::scalar<T>(std::move(value)));
  }

  /// Output o gets a shape of T: in the memory of input i where nobody else needs that, otherwise fresh. The input stays readable.
  template <class T>
  T* alloc_over(int o, int i, const Shape& shape) {
    const Tensor& x = in(i);
    if (x.unique() && size_of(x.dtype()) == sizeof(T) && !is_object(x.dtype()) && x.size() == shape.elements()) {
      out(o) = Tensor(dtype_of<T>::value, shape, x.buffer(),
                      static_cast<std::size_t>(x.template data<char>() - static_cast<const char*>(x.buffer()->data())));
      return out(o).template mutable_data<T>();
    }
    return alloc<T>(o, shape);
  }

  /// For the parameters of signatures; a kernel names Step& instead.
  Step& step() { return *step_; }

 private:
  const NodeFacts* node_;
  std::span<Value> inputs_, outputs_;
  Step* step_;
  Tag tag_;
};

}  // namespace troupe
