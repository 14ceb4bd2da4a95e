// Reading of datasets: a source gives an element, says that it has to wait, or is at its end. Who waits is asked again when woken.
#pragma once

#include <troupe/ops/resources/rows.hpp>
#include <troupe/ops/step_host.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace troupe {

enum class Poll { ready, end, waits, failed };

/// Functions that one iterator runs: they keep their state while it lives.
using Instances = std::unordered_map<std::string, std::shared_ptr<FunctionInstance>>;

/// One request under way within a step. Asks its attempt again and again instead of nesting continuations, so nothing grows deep.
class Reading : public std::enable_shared_from_this<Reading> {
 public:
  using Attempt = std::function<Poll(Reading&)>;
  using Over = std::function<void(Poll, Status)>;

  Reading(Step& step, std::shared_ptr<Instances> instances, Attempt attempt, Over over)
      : step_(step), instances_(std::move(instances)), attempt_(std::move(attempt)), over_(std::move(over)) {}
  static void start(Step& step, std::shared_ptr<Instances> instances, Attempt attempt, Over over) {
    std::make_shared<Reading>(step, std::move(instances), std::move(attempt), std::move(over))->wake();
  }

  Step& step() { return step_; }
  Instances& instances() { return *instances_; }
  Poll fail(Status status) {
    status_ = std::move(status);
    return Poll::failed;
  }
  /// Why the last attempt failed.
  const Status& status() const { return status_; }
  /// Called by what was waited for.
  void wake();

 private:
  Poll attempt();

  Step& step_;
  std::shared_ptr<Instances> instances_;
  Attempt attempt_;
  Over over_;
  Status status_;
  bool turning_ = false, again_ = false;
};

/// A function with the values it closed over.
struct Captured {
  std::shared_ptr<const KeptFunction> function;
  Tuple values;
};

/// At most one call of a function under way.
class FunctionCall {
 public:
  bool started() const { return answer_ != nullptr; }
  void start(Reading& reading, const Captured& function, Tuple arguments);
  /// The answer of the call that was started, when it is there.
  Poll take(Reading& reading, Tuple& results);

 private:
  struct Answer {
    Cancellation cancellation;
    std::optional<StatusOr<Tuple>> value;
  };
  std::shared_ptr<FunctionInstance> instance_;
  std::shared_ptr<Answer> answer_;
};

/// At most one piece of work under way on a thread that may block.
class BlockingWork {
 public:
  bool started() const { return answer_ != nullptr; }
  /// `work` must own what it touches.
  void start(Reading& reading, std::function<Status()> work);
  /// Ready or failed when the work is over.
  Poll take(Reading& reading);

 private:
  struct Answer {
    Status status;
    bool over = false;
  };
  std::shared_ptr<Answer> answer_;
};

}  // namespace troupe
