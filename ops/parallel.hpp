// Parts of one kernel on several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace troupe {

/// Threads that may take over parts of a kernel. Whoever runs kernels on such threads says so with a HelpersScope.
class Helpers {
 public:
  virtual ~Helpers() = default;
  /// How many kernels, or parts of them, run at once.
  virtual int threads() const = 0;
  /// Runs the job soon, on one of them; called from any thread.
  virtual void submit(std::function<void()> job) = 0;
};

/// While it lives, kernels on this thread may be split over these helpers; over none where null.
class HelpersScope {
 public:
  explicit HelpersScope(Helpers* helpers);
  ~HelpersScope();
  HelpersScope(const HelpersScope&) = delete;
  HelpersScope& operator=(const HelpersScope&) = delete;

 private:
  Helpers* before_;
};

/// How many parts: one a thread where each part costs something of its own, or several, so that nobody waits long for a thread that was late.
enum class Cut { coarse, fine };

/// Calls part(first, last) for ranges that together are [0, count), at once where there are helpers and the work is worth it, and
/// returns when all are through. `ns_each` is what one of them roughly costs. Parts of parts are not split. What a part throws is thrown here.
void in_parallel(std::int64_t count, double ns_each, Cut cut, const std::function<void(std::int64_t, std::int64_t)>& part);
inline void in_parallel(std::int64_t count, double ns_each, const std::function<void(std::int64_t, std::int64_t)>& part) {
  in_parallel(count, ns_each, Cut::coarse, part);
}

}  // namespace troupe
