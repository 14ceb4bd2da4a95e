// Decides whether polling a little before going to sleep pays.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace troupe {

/// Bounded by its window, given up after a few vain attempts until an event comes that would have been caught, and off for a
/// while when somebody else wanted the core. Of one thread.
class Spin {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Spin(std::chrono::microseconds window) : window_(window) {}

  bool enabled() const { return window_ > Clock::duration::zero(); }
  Clock::duration window() const { return window_; }
  bool pays(Clock::time_point now) const { return misses_ < max_misses && now >= off_until_; }

  void begin() { switches_ = switches(); }
  void hit() { misses_ = 0; }
  void miss(Clock::time_point now) {
    ++misses_;
    if (switches() != switches_) off_until_ = now + pause;
  }
  /// The wait, asleep or not, took so long.
  void parked(Clock::duration took) {
    if (took < window_) misses_ = 0;
  }

 private:
  static constexpr int max_misses = 4;
  static constexpr std::chrono::milliseconds pause{50};
  /// A yield that finds nobody waiting is no switch.
  static long switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
  }

  Clock::duration window_;
  Clock::time_point off_until_{};
  int misses_ = 0;
  long switches_ = 0;
};

}  // namespace troupe
