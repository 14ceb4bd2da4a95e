// Where tensors that linked nodes push wait for this node's steps to take them.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/rendezvous.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

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


/// Asks for a tensor of another task's: pushed where there is a link, fetched otherwise.
struct FetchTensor {
  Parcel<RecvTensorRequest> request;
  std::shared_ptr<const std::string> session;  // none for those who never made one
  std::string task;                            // who asks, as the session names it
};
/// Whoever borrows a link tells how errors that come over it are told.
struct Borrow {
  std::function<Status(const Status&)> noted;
};
/// The end of a link that somebody else has dialled: who fetches from that node need not dial it.
using Lender = caf::typed_actor<caf::reacts_to<Borrow>, caf::replies_to<FetchTensor>::with<Parcel<RecvTensorResponse>>, caf::reacts_to<ForgetSession>>;
/// A node with devices of these incarnations has dialled this one.
struct LinkLent {
  std::vector<std::uint64_t> incarnations;
  Lender by;
};
struct LinkTakenBack {
  Lender by;
};
/// Asks for a link to the node that has a device of this incarnation. The reply is without a lender where there is none.
struct FindLink {
  std::uint64_t incarnation = 0;
};

using Inbox =
    caf::typed_actor<caf::replies_to<TakeTensor>::with<Parcel<RecvTensorResponse>>, caf::reacts_to<PushedTensor>, caf::reacts_to<PeerAborted>,
                     caf::reacts_to<PeerLost>, caf::reacts_to<ForgetStep>, caf::reacts_to<ForgetSession>, caf::reacts_to<CancelCall>,
                     caf::reacts_to<LinkLent>, caf::reacts_to<LinkTakenBack>, caf::replies_to<FindLink>::with<LinkLent>>;

/// What both ends of a link need of their node.
struct LinkHost {
  RendezvousActor rendezvous;
  Inbox inbox;
  std::vector<std::uint64_t> incarnations;  // of its devices
  LinkCountersPtr counters;
};

Inbox spawn_inbox(caf::actor_system& system, LinkCountersPtr counters);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::TakeTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PushedTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerAborted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerLost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::FetchTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Borrow)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LinkLent)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LinkTakenBack)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::FindLink)
