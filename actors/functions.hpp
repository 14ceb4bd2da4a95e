// Functions of a graph's library as nested executions.
#pragma once

#include <troupe/devices/execution.hpp>
#include <troupe/devices/plan.hpp>

#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Compiles functions once per library and runs them inside a step. Belongs to one device's actor.
class FunctionRunner : public std::enable_shared_from_this<FunctionRunner> {
 public:
  explicit FunctionRunner(Hands hands) : hands_(std::move(hands)) {}

  /// For Execution::set_function_caller.
  Execution::CallFunction caller();

 private:
  struct Compiled {
    LibraryPtr library;  // kept, since the address of a library is what makes the key unique
    KernelCache kernels;
    std::shared_ptr<const Plan> plan;
  };
  StatusOr<std::shared_ptr<const Plan>> compile(Execution& from, const wire::NameAttrList& function);
  void call(Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done);

  Hands hands_;
  std::map<std::string, Compiled> compiled_;
};

}  // namespace troupe
