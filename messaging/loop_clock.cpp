// CAF's clock without a thread of its own.
#include <troupe/messaging/loop_clock.hpp>

#include <utility>
#include <vector>

namespace troupe {

template <class F>
void LoopClock::change(F&& f) {
  schedule_map dropped;  // ends after the lock: it may hold an actor's last reference, whose end comes back to this clock
  std::lock_guard lock(mutex_);
  f();
  if (!open_) {
    actor_lookup_.clear();
    return dropped.swap(schedule_);
  }
  if (schedule_.empty() || schedule_.begin()->first >= armed_) return;
  armed_ = schedule_.begin()->first;
  arm_(armed_);
}

void LoopClock::fire() {
  std::vector<unique_delayed_event_ptr> due;
  change([&] {
    armed_ = time_point::max();
    const auto end = schedule_.upper_bound(now());
    for (auto i = schedule_.begin(); i != end; i = schedule_.erase(i)) {
      if (i->second->backlink != actor_lookup_.end()) actor_lookup_.erase(i->second->backlink);
      due.push_back(std::move(i->second));
    }
  });
  for (auto& event : due) ship(*event);
}

void LoopClock::open() {
  change([&] {
    open_ = true;
    armed_ = time_point::max();
  });
}

void LoopClock::close() {
  change([&] { open_ = false; });
}

void LoopClock::set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type, std::uint64_t id) {
  change([&] { Base::set_ordinary_timeout(t, self, type, id); });
}

void LoopClock::set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type, std::uint64_t id) {
  change([&] { Base::set_multi_timeout(t, self, type, id); });
}

void LoopClock::set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) {
  change([&] { Base::set_request_timeout(t, self, id); });
}

void LoopClock::cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) {
  change([&] { Base::cancel_ordinary_timeout(self, type); });
}

void LoopClock::cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) {
  change([&] { Base::cancel_request_timeout(self, id); });
}

void LoopClock::cancel_timeouts(caf::abstract_actor* self) {
  change([&] { Base::cancel_timeouts(self); });
}

void LoopClock::schedule_message(time_point t, caf::strong_actor_ptr receiver, caf::mailbox_element_ptr content) {
  change([&] { Base::schedule_message(t, std::move(receiver), std::move(content)); });
}

void LoopClock::schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender, caf::message content) {
  change([&] { Base::schedule_message(t, std::move(target), std::move(sender), std::move(content)); });
}

void LoopClock::cancel_all() {
  schedule_map dropped;
  change([&] {
    actor_lookup_.clear();
    dropped.swap(schedule_);
  });
}

}  // namespace troupe
