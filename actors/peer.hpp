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

/// Asks for a tensor of the peer's: pushed where there is a link, fetched otherwise.
struct FetchTensor {
  Parcel<RecvTensorRequest> request;
  std::shared_ptr<const std::string> session;  // none for those who never made one
  std::string task;                            // who asks, as the session names it
};
/// The peer answers calls: a good moment to ask it for a link. `asked` when it was a GetStatus.
struct PeerAnswers {
  bool asked = false;
};

using PeerActor = Worker::extend<caf::replies_to<FetchTensor>::with<Parcel<RecvTensorResponse>>, caf::reacts_to<ForgetSession>,
                                 caf::reacts_to<PeerAnswers>, caf::reacts_to<LinkArrived>, caf::reacts_to<LinkClosed>>;

/// The tasks that a task may fetch tensors from, by name.
using Peers = std::unordered_map<std::string, PeerActor>;

/// `task` is the name that errors give: "/job:ps/replica:0/task:0".
PeerActor spawn_peer(caf::actor_system& system, Transport& transport, std::string task, std::string address, Inbox inbox, LinkCountersPtr counters);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::FetchTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerAnswers)
