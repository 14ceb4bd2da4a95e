// Tasks of the same process: they are asked directly, without a wire.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/device.hpp>
#include <troupe/actors/peer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Who serves under which address. Touched only where the actors of its tasks run, which is one place for all.
struct Neighbours {
  struct Entry {
    Worker worker;
    Device device;
  };
  std::map<std::string, Entry> by_address;
};

/// A peer that is asked directly while a task of this process serves its address, and over the wire otherwise: `far` makes the peer
/// for that, when first needed; where it gives none, the peer is UNAVAILABLE.
PeerActor spawn_neighbour(caf::actor_system& system, std::shared_ptr<const Neighbours> neighbours, std::string task, std::string address,
                          std::function<PeerActor()> far);

}  // namespace troupe
