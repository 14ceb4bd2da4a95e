// Finds how far ahead workers may be under bounded staleness, from how long they waited lately.
#pragma once

#include <cstddef>

namespace troupe::lab {

/// A larger bound is tried while workers wait for more than a twentieth of their time, and taken back where it does not help: a worker that is always
/// slower is waited for whatever the bound. A bound that nobody needs is made smaller, for the sake of fresh parameters.
class BoundTuner {
 public:
  explicit BoundTuner(int workers) : due_(16 * static_cast<std::size_t>(workers)) {}

  static constexpr int first_guess = 1, most = 100;
  void note(double waited, double worked) {
    waited_ += waited;
    worked_ += worked;
    ++noted_;
  }
  /// Every now and then another bound; otherwise the present one.
  int review(int present);

 private:
  std::size_t due_, noted_ = 0;
  double waited_ = 0, worked_ = 0, before_ = 0;
  bool raised_ = false;
  int settling_ = 0;
  int rest_ = 0;  // reviews until a larger bound is tried again
};

}  // namespace troupe::lab
