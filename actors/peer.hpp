// Another task: answers like a worker, by asking the real one over gRPC; a Troupe node over a link.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/inbox.hpp>
#include <troupe/actors/link.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/messaging/transport.hpp>

#include <memory>
#include <string>
#include <unordered_map>

namespace troupe {

using PeerActor = Worker::extend<caf::reacts_to<FetchTensors>, caf::reacts_to<CancelFetch>, caf::reacts_to<ForgetSession>>;

/// The tasks that a task may fetch tensors from, by name.
using Peers = std::unordered_map<std::string, PeerActor>;

/// `task` is the name that errors give: "/job:ps/replica:0/task:0".
PeerActor spawn_peer(caf::actor_system& system, Transport& transport, std::string task, std::string address, LinkHost host);

}  // namespace troupe
