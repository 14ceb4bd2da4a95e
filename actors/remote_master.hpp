// A master elsewhere, of Troupe or of TensorFlow: answers like the own one, by asking the real one over gRPC.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/messaging/transport.hpp>

#include <string>

namespace troupe {

/// Address "host:port". The first request of a session waits for the server to be there; cancelled requests end at once.
Master spawn_remote_master(caf::actor_system& system, Transport& transport, std::string address);

}  // namespace troupe
