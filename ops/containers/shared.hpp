// Resources that steps share by name: given out by one node, used by others, by handle or in older graphs by reference.
#pragma once

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/state/resource_name.hpp>

#include <memory>
#include <string>
#include <utility>

namespace troupe {

/// The container and name that a reference edge's two strings say; the complaint is what to say of others, before their shape.
StatusOr<std::pair<std::string, std::string>> name_by_reference(Call& call, int input, const char* complaint = nullptr);
/// A reference to these two strings.
std::shared_ptr<Variable> reference_to(const std::string& container, const std::string& name);

/// Whether older graphs name resources of a class within their step, and what is said of a handle that is no such name: specialise.
template <class R>
struct named_in_step {
  static constexpr const char* complaint = nullptr;
};

/// The resource that an input stands for.
template <class R>
StatusOr<std::shared_ptr<R>> find_shared(Call& call, int input) {
  ResourceStore& store = *call.step().resources;
  if (call.in(input).dtype() == DType::resource) {
    if (call.in(input).size() < 1) return detail::wrong_dtype(call, input, DType::resource);
    return store.find<R>(call.in(input).template item<ResourceHandle>());
  }
  TRY_ASSIGN(const auto name, name_by_reference(call, input, named_in_step<R>::complaint));
  if constexpr (named_in_step<R>::complaint) return store.find<R>(call.step().container(), name.first + name.second);
  else return store.find<R>(name.first, name.second);
}

/// A parameter: a resource of class R that exists, whatever kind of edge it comes through.
template <class R>
struct Shared {
  std::shared_ptr<R> object;
  R* operator->() const { return object.get(); }
  R& operator*() const { return *object; }
};

template <class R>
struct Param<Shared<R>> : InputParam {
  static constexpr bool on_device = true;
  static Status check(int at, Call& call) { return find_shared<R>(call, at).status(); }
  static Shared<R> get(int at, Call& call) { return {*find_shared<R>(call, at)}; }
};

/// A kernel's own state for giving out a resource.
struct Exit {
  ResourceName where;
  bool by_reference = false;
  bool nameless = false;  // no shared name: the resource is this node's own
  Tensor handle;
  std::shared_ptr<Variable> reference;

  /// A node without a shared name shares under its own.
  static StatusOr<Exit> make(Binding& binding);
  /// A node without a shared name has its resource for itself.
  static StatusOr<Exit> make_private(Binding& binding);

  /// Output 0 becomes the way to the resource.
  template <class R>
  void give(Call& call, Step& step) {
    const std::string& container = step.resources->container_or_default(where.container);
    if (by_reference) {
      if (!reference) reference = reference_to(container, where.name);
      call.output_value(0).ref = reference;
      return;
    }
    if (!handle.valid()) handle = Tensor::scalar<ResourceHandle>(step.resources->handle_to<R>(step.device, container, where.name));
    call.set(0, handle);
  }

  /// Finds the resource of this name or makes it; `check` refuses one that was made by another kind of node.
  template <class R, class Make, class Check>
  Status open(Call& call, Step& step, Make&& make, Check&& check) {
    if (nameless) {
      where.name = fmt::format("_{}_{}", step.resources->next_number(), where.name);
      nameless = false;
    }
    const std::string& container = step.resources->container_or_default(where.container);
    if (auto found = step.resources->find<R>(container, where.name); found.ok()) {
      TRY(check(**found));
    } else {
      StatusOr<std::shared_ptr<R>> made = make();
      if (!made.ok()) return made.status();
      step.resources->put(container, where.name, resource_type<R>::name, *std::move(made));
    }
    give<R>(call, step);
    return absl::OkStatus();
  }
};

/// "resource, float->int32": what TensorFlow says of a node's types, the first input being a handle or a reference.
std::string signature_text(bool by_reference, const std::vector<DType>& inputs, const std::vector<DType>& outputs);
/// The same check that TensorFlow makes where a resource knows which types its users must have.
Status match_signature(Call& call, const std::vector<DType>& inputs, const std::vector<DType>& wanted_inputs, const std::vector<DType>& outputs,
                       const std::vector<DType>& wanted_outputs);

}  // namespace troupe
