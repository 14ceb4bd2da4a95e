// A Troupe node that has dialled this one: its runs are served, and what it wants is pushed to it.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/link.hpp>
#include <troupe/actors/rendezvous.hpp>
#include <troupe/actors/services.hpp>

#include <memory>
#include <vector>

namespace troupe {

/// The node stops: refuse new calls and, when their time is over, cancel the open ones.
struct Close {
  Status reason;
  bool cancel_open = true;
};

using Guest = Pushes::extend<caf::reacts_to<LinkArrived>, caf::reacts_to<LinkClosed>, caf::reacts_to<Close>>;

/// What every guest needs of its host.
struct GuestHost {
  Worker worker;
  RendezvousActor rendezvous;
  std::vector<std::uint64_t> incarnations;  // of this node's devices
  LinkCountersPtr counters;
};

/// Ends when the link does.
Guest spawn_guest(caf::actor_system& system, GuestHost host, std::shared_ptr<Stream> stream);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Close)
