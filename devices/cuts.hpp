// Units of updates, and cuts that fall between them: what is saved of a device's variables is never half of what a step did.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace troupe {

/// Of one device; touched on its actor only. A cut is taken when no unit is half applied. While one is waited for, units that have not
/// begun wait for it, so that it comes: at the latest when the kernels of the units that have begun are through.
class Cuts {
 public:
  using Work = std::function<void()>;

  /// `take` reads what is to be saved; called once, perhaps before this returns.
  void request(Work take);
  /// Whether a unit may begin now. If not, `resume` is called when it may ask again.
  bool may_begin() const { return waiting_.empty() && !taking_; }
  void resume_later(Work resume) { held_.push_back(std::move(resume)); }

  void unit_begins() { ++open_; }
  void unit_ends();

 private:
  void settle();

  int open_ = 0;  // units that have begun and may go on without a wait
  bool taking_ = false, settling_ = false;
  std::vector<Work> waiting_;  // cuts
  std::vector<Work> held_;     // updates
};

/// The updates of one step since its last wait. The step is busy while nodes of it run, here or on the compute pool; when it is not, it
/// has ended or it waits, and the unit is complete.
class Unit {
 public:
  explicit Unit(std::shared_ptr<Cuts> cuts) : cuts_(std::move(cuts)) {}

  Cuts& cuts() { return *cuts_; }
  void enter() { ++busy_; }
  void leave();
  /// Before every update. False: not now, see Cuts::resume_later.
  bool may_update();
  /// Called once, when the step is not busy any more.
  void when_idle(Cuts::Work work) { at_idle_.push_back(std::move(work)); }

 private:
  std::shared_ptr<Cuts> cuts_;
  int busy_ = 0;
  bool begun_ = false;
  std::vector<Cuts::Work> at_idle_;
};

}  // namespace troupe
