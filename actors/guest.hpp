// A Troupe node that has dialled this one: its runs are served, what it wants is pushed to it, and what is wanted of it is taken.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/inbox.hpp>
#include <troupe/actors/link.hpp>
#include <troupe/actors/services.hpp>

#include <memory>
#include <vector>

namespace troupe {

/// The node stops: refuse new calls and, when their time is over, cancel the open ones.
struct Close {
  Status reason;
  bool cancel_open = true;
};

using Guest = Lender::extend<caf::reacts_to<PutTensors>, caf::reacts_to<AbortStep>, caf::reacts_to<LinkArrived>, caf::reacts_to<LinkClosed>,
                             caf::reacts_to<Close>>;

/// What every guest needs of its host.
struct GuestHost {
  Worker worker;
  LinkHost link;
};

/// Ends when the link does.
Guest spawn_guest(caf::actor_system& system, GuestHost host, std::shared_ptr<Stream> stream);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Close)
