// Where tensors that linked nodes push wait for this node's steps to take them.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/rendezvous.hpp>

#include <memory>
#include <string>

namespace troupe {

/// Asks for a tensor that the peer of this number pushes, or has pushed.
struct TakeTensor {
  Parcel<RecvTensorRequest> request;
  std::uint64_t peer = 0;
  std::shared_ptr<const std::string> session;
};
/// A tensor has come from a peer.
struct PushedTensor {
  std::uint64_t peer = 0;
  PutTensor put;
};
/// Nothing more of the step will come from the peer.
struct PeerAborted {
  std::uint64_t peer = 0;
  std::int64_t step = 0;
  Status reason;
};
/// The link to the peer is gone: who waits for its tensors gets the reason.
struct PeerLost {
  std::uint64_t peer = 0;
  Status reason;
};

using Inbox =
    caf::typed_actor<caf::replies_to<TakeTensor>::with<Parcel<RecvTensorResponse>>, caf::reacts_to<PushedTensor>, caf::reacts_to<PeerAborted>,
                     caf::reacts_to<PeerLost>, caf::reacts_to<ForgetStep>, caf::reacts_to<ForgetSession>, caf::reacts_to<CancelCall>>;

Inbox spawn_inbox(caf::actor_system& system, LinkCountersPtr counters);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::TakeTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PushedTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerAborted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerLost)
