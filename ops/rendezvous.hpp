// The port through which Send and Recv kernels reach other partitions of a step.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/value.hpp>

#include <functional>
#include <string>

namespace troupe {

class Rendezvous {
 public:
  using Receiver = std::function<void(StatusOr<Value>)>;

  virtual ~Rendezvous() = default;
  virtual Status send(const std::string& key, Value value) = 0;
  /// Calls the receiver exactly once, on the device's actor: with the value, or with the step's error.
  virtual void receive(const std::string& key, Receiver receiver) = 0;
  /// Nothing more is sent or received for now: what was may go on its way, all together.
  virtual void flush() {}
};

}  // namespace troupe
