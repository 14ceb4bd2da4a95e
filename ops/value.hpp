// What travels along an edge of a graph: a tensor, a reference to a variable, or nothing (dead).
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <memory>

namespace troupe {

class Variable;

struct Value {
  Tensor tensor;
  std::shared_ptr<Variable> ref;  // set on reference edges only; the tensor is then taken from it when a kernel starts
  bool dead = false;

  Value() = default;
  Value(Tensor t) : tensor(std::move(t)) {}
  static Value dead_one() {
    Value v;
    v.dead = true;
    return v;
  }
  bool empty() const { return !tensor.valid() && !ref && !dead; }
  void reset() {
    tensor.reset();
    if (ref) ref.reset();
    dead = false;
  }
};

}  // namespace troupe
