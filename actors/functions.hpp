// Functions of a graph's library as nested executions.
#pragma once

#include <troupe/devices/execution.hpp>
#include <troupe/devices/plan.hpp>

#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Compiles functions once per library and runs them inside a step. Belongs to one device's actor.
class FunctionRunner : public Functions, public std::enable_shared_from_this<FunctionRunner> {
 public:
  explicit FunctionRunner(std::shared_ptr<const Hands> hands) : hands_(std::move(hands)) {}

  void call(Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) override;
  StatusOr<std::shared_ptr<const KeptFunction>> keep(Execution& from, const wire::NameAttrList& function) override;
  /// Compiles a function anew, with kernels of its own, to run on a device.
  StatusOr<std::shared_ptr<FunctionInstance>> instantiate(const LibraryPtr& library, const wire::NameAttrList& function, const std::string& device);

 private:
  struct Compiled {
    LibraryPtr library;  // kept, since the address of a library is what makes the key unique
    KernelCache kernels;
    std::shared_ptr<const Plan> plan;
  };
  class Instance;
  static StatusOr<Compiled> compile(const LibraryPtr& library, const wire::NameAttrList& function, const std::string& device);
  StatusOr<std::shared_ptr<const Plan>> compiled(Execution& from, const wire::NameAttrList& function);
  /// What a caller's step updates through its functions is part of its unit.
  void run(const std::shared_ptr<const Plan>& plan, Step& from, Cancellation* cancellation, std::vector<Tensor> arguments, FunctionDone done,
           Execution* caller = nullptr);

  std::shared_ptr<const Hands> hands_;
  std::map<std::string, Compiled> compiled_;
};

}  // namespace troupe
