// Who waits in a step is told here when the step is cancelled.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <functional>
#include <map>

namespace troupe {

/// Belongs to one step and is touched only on its device's actor.
class Cancellation {
 public:
  using Token = std::uint64_t;

  bool cancelled() const { return !reason_.ok(); }
  const Status& reason() const { return reason_; }

  /// Calls `wake` once if the step is cancelled later. Do not call when already cancelled.
  Token on_cancel(std::function<void()> wake) {
    waiting_.emplace(++last_, std::move(wake));
    return last_;
  }
  void forget(Token token) { waiting_.erase(token); }

  void cancel(Status reason) {
    if (cancelled()) return;
    reason_ = std::move(reason);
    // A wake-up may forget others: take one at a time.
    while (!waiting_.empty()) {
      auto wake = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      wake();
    }
  }

 private:
  Status reason_;
  Token last_ = 0;
  std::map<Token, std::function<void()>> waiting_;
};

}  // namespace troupe
