// Another task: answers like a worker, by asking the real one over gRPC.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/messaging/loop.hpp>

#include <string>

namespace troupe {

/// `task` is the name that errors give: "/job:ps/replica:0/task:0".
Worker spawn_peer(caf::actor_system& system, Loop& loop, std::string task, std::string address);

}  // namespace troupe
