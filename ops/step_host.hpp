// What outlives a step asks of whoever runs it: functions to be called in later steps, and threads that may block.
#pragma once

#include <troupe/ops/step.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A function compiled for one user: the state of its kernels is the user's own.
class FunctionInstance {
 public:
  virtual ~FunctionInstance() = default;
  /// Runs within a step of the same device; the continuation comes on the device's actor. A failure cancels `cancellation`, which must live until then.
  virtual void call(Step& step, Cancellation& cancellation, std::vector<Tensor> arguments, FunctionDone done) = 0;
};

/// A function together with the library it was met in.
class KeptFunction {
 public:
  virtual ~KeptFunction() = default;
  /// Equal for equal functions of one library.
  virtual const std::string& key() const = 0;
  virtual StatusOr<std::shared_ptr<FunctionInstance>> instantiate() const = 0;
};

/// The side of a step that datasets and iterators use.
class StepHost {
 public:
  virtual StatusOr<std::shared_ptr<const KeptFunction>> keep_function(const wire::NameAttrList& function) = 0;
  /// Runs `work` where it may block, then `after` on the device's actor.
  virtual void run_blocking(std::function<void()> work, std::function<void()> after) = 0;

 protected:
  ~StepHost() = default;
};

/// Null for a step without one.
inline StepHost* host_of(Step& step) { return dynamic_cast<StepHost*>(&step); }

}  // namespace troupe
