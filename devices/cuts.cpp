// Who may update and who may read for a checkpoint.
#include <troupe/devices/cuts.hpp>

#include <utility>

namespace troupe {

void Cuts::request(Work take) {
  waiting_.push_back(std::move(take));
  settle();
}

void Cuts::unit_ends() {
  --open_;
  settle();
}

void Cuts::settle() {
  if (settling_) return;
  settling_ = true;
  while (open_ == 0 && (!waiting_.empty() || !held_.empty())) {
    if (!waiting_.empty()) {
      const Work take = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      taking_ = true;
      take();
      taking_ = false;
    } else {
      for (const Work& resume : std::exchange(held_, {})) resume();
    }
  }
  settling_ = false;
}

void Unit::leave() {
  if (--busy_ > 0) return;
  if (std::exchange(begun_, false)) cuts_->unit_ends();
  if (at_idle_.empty()) return;
  for (const auto& work : std::exchange(at_idle_, {})) work();
}

bool Unit::may_update() {
  if (begun_) return true;
  if (!cuts_->may_begin()) return false;
  begun_ = true;
  cuts_->unit_begins();
  return true;
}

}  // namespace troupe
