// What blocks, for actors without a pool at hand: done on a thread of its own, and gone on from in the actor.
#pragma once

#include <troupe/messaging/caf_status.hpp>

#include <caf/all.hpp>

#include <functional>

namespace troupe {

/// `work` must own what it touches; `then` is called in the actor, unless that has ended.
template <class Self>
void aside(Self* self, std::function<Status()> work, std::function<void(Status)> then) {
  auto helper = self->home_system().template spawn<caf::detached>([work = std::move(work)](caf::event_based_actor*) -> caf::behavior {
    return {[work](caf::ok_atom) -> caf::result<bool> {
      if (Status status = work(); !status.ok()) return to_caf(status);
      return true;
    }};
  });
  self->request(helper, caf::infinite, caf::ok_atom::value)
      .then([then](bool) { then(absl::OkStatus()); }, [then](caf::error& error) { then(from_caf(error)); });
}

}  // namespace troupe
