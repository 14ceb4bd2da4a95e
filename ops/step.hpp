// What a kernel may ask of the step that it runs in.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/cancellation.hpp>
#include <troupe/ops/rendezvous.hpp>
#include <troupe/ops/value.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class ResourceStore;
std::string container_of_step(std::int64_t step);
namespace wire {
class NameAttrList;
}

/// Runs a function of the graph's library; the continuation comes on the device's actor.
using FunctionDone = std::function<void(StatusOr<std::vector<Tensor>>)>;

/// One partition of a step on one device. Kernels that name `Step&` in their signature run on the device's actor, never on the pool.
class Step {
 public:
  virtual ~Step() = default;

  std::int64_t id = 0;
  std::string device;  // full name
  ResourceStore* resources = nullptr;
  Rendezvous* rendezvous = nullptr;
  Cancellation* cancellation = nullptr;

  /// Name of the container that lives as long as the step.
  std::string container() const { return container_of_step(id); }
  virtual void call_function(const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) = 0;
};

}  // namespace troupe
