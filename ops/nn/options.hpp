// Parameters of signatures beyond the common ones: options read and checked once, and types of outputs.
#pragma once

#include <troupe/ops/params.hpp>

#include <concepts>
#include <memory>

namespace troupe {

/// A signature that names `const S&`, S having `static StatusOr<S> make(Binding&)`, gets the one object made for its node.
template <class S>
requires requires(Binding& binding) {
  { S::make(binding) } -> std::same_as<StatusOr<S>>;
}
struct Param<const S&> {
  static constexpr bool on_device = false;
  using Bound = std::shared_ptr<const S>;
  static Bound bind(Binding& binding, Status& status) {
    auto made = S::make(binding);
    if (!made.ok()) status.Update(made.status());
    return made.ok() ? std::make_shared<const S>(std::move(*made)) : nullptr;
  }
  static Status check(const Bound&, Call&) { return absl::OkStatus(); }
  static const S& get(const Bound& object, Call&) { return *object; }
};

/// Names in a signature the element type of an output that no input has: `[]<class T, class I>(Call& call, In<T> x, Gives<I>)`.
template <class T>
struct Gives {};
template <class T>
struct Param<Gives<T>> {
  static constexpr bool on_device = false;
  struct Bound {};
  static Bound bind(Binding&, Status&) { return {}; }
  static Status check(Bound, Call&) { return absl::OkStatus(); }
  static Gives<T> get(Bound, Call&) { return {}; }
};

}  // namespace troupe
