// Calls that wait on a resource: served in the order they came, told when their step is cancelled.
#pragma once

#include <troupe/ops/call.hpp>
#include <troupe/ops/step.hpp>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Ends of calls, collected while a resource changes and told when it has settled: whoever is told may come back to it.
class Endings {
 public:
  void add(Done done, Status status) { all_.emplace_back(std::move(done), std::move(status)); }
  void tell() {
    for (auto& [done, status] : std::exchange(all_, {})) done(std::move(status));
  }

 private:
  std::vector<std::pair<Done, Status>> all_;
};

/// Part of a resource; touched only on its device's actor.
class WaitingLine {
 public:
  enum class Progress { none, some, complete };
  /// Goes on as far as it can; when complete, the status is how the call ends.
  using Attempt = std::function<Progress(Status&)>;

  /// Puts a call at the end of the line. If the step is cancelled the call ends with `text`, and `left` is called; `left` keeps the resource
  /// alive. Without a step the call cannot be cancelled.
  void join(Step* step, std::string text, Attempt attempt, Done done, std::function<void()> left);
  /// Serves from the front until somebody has to wait. True when anything moved.
  bool serve(Endings& endings);
  /// Serves everybody who can go on, whether or not those before can.
  bool serve_anybody(Endings& endings);
  /// Ends every call that waits.
  void end_all(const Status& status, Endings& endings);
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Attempt attempt;
    Done done;
    Cancellation* cancellation = nullptr;
    Cancellation::Token token = 0;
  };
  using Place = std::list<Waiting>::iterator;
  Done leave(Place place);

  std::list<Waiting> waiting_;
};

}  // namespace troupe
