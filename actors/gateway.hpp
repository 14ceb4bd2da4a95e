// The gateway: TensorFlow's services on one side, master and worker actors on the other.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/guest.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/messaging/grpc_server.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A call that came in over gRPC.
struct Incoming {
  std::shared_ptr<ServerCall> call;
};
/// A link that another Troupe node has opened.
struct IncomingLink {
  std::shared_ptr<Stream> stream;
};

using Gateway = caf::typed_actor<caf::reacts_to<Incoming>, caf::reacts_to<IncomingLink>, caf::reacts_to<Close>, caf::reacts_to<CancelCall>>;

Gateway spawn_gateway(caf::actor_system& system, Master master, GuestHost host);

/// Full paths of all methods; a call's `method` is an index into it.
std::vector<std::string> gateway_methods();

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Incoming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::IncomingLink)
