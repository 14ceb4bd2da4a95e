// Comparison of bounds.
#include <troupe/actors/lab/bound_tuner.hpp>

#include <utility>

namespace troupe::lab {

int BoundTuner::review(int present) {
  if (noted_ < due_) return present;
  const double share = waited_ + worked_ > 0 ? waited_ / (waited_ + worked_) : 0;
  noted_ = 0;
  waited_ = worked_ = 0;
  // Right after a change nobody waits for as long as the new lead lasts, whatever comes then.
  if (settling_ > 0) {
    --settling_;
    return present;
  }
  if (std::exchange(raised_, false) && share > 0.9 * before_) {
    rest_ = 8;
    return present - 1;
  }
  if (rest_ > 0) --rest_;
  if (share < 0.01) return present > 0 ? present - 1 : 0;
  if (share < 0.05 || rest_ > 0 || present >= most) return present;
  raised_ = true;
  settling_ = 1;
  before_ = share;
  return present + 1;
}

}  // namespace troupe::lab
