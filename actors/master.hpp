// The master: hands clients' requests to their sessions.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/actors/session.hpp>

#include <memory>

namespace troupe {

Master spawn_master(caf::actor_system& system, std::shared_ptr<const Surroundings> surroundings);

}  // namespace troupe
