// Where tensors that linked nodes push wait for this node's steps to take them.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/rendezvous.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A tensor that somebody waits for, or why it will not come.
struct CameTensor {
  std::string key;
  Parcel<RecvTensorResponse> value;
  Status status;
};
struct TensorsCame {
  std::int64_t step = 0;
  std::vector<CameTensor> tensors;
};
/// Who waits for tensors of other tasks.
using Taker = caf::typed_actor<caf::reacts_to<TensorsCame>>;

/// Asks for tensors of another task's: pushed where there is a link, fetched otherwise. Each comes once, or its error.
struct FetchTensors {
  std::int64_t step = 0;
  std::vector<std::string> keys;
  std::shared_ptr<const std::string> session;  // none for those who never made one
  std::string task;                            // who asks, as the session names it
  Taker to;
};
/// Nobody waits any more for what a step's fetches have not brought yet.
struct CancelFetch {
  std::int64_t step = 0;
  Taker to;
};

/// Asks for tensors that the peer of this number pushes, or has pushed.
struct TakeTensors {
  FetchTensors fetch;
  std::uint64_t peer = 0;
};
struct PushedTensor {
  std::int64_t step = 0;
  std::shared_ptr<const std::string> session;
  std::string key;
  Parcel<RecvTensorResponse> value;
};
/// What has come from a peer in one message.
struct PushedTensors {
  std::uint64_t peer = 0;
  std::vector<PushedTensor> tensors;
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

/// Whoever borrows a link tells how errors that come over it are told.
struct Borrow {
  std::function<Status(const Status&)> noted;
};
/// The end of a link that somebody else has dialled: who fetches from that node need not dial it. A fetch is answered at once: false where
/// the link has ended.
using Lender = caf::typed_actor<caf::reacts_to<Borrow>, caf::replies_to<FetchTensors>::with<bool>, caf::reacts_to<ForgetSession>>;
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

using Inbox = caf::typed_actor<caf::reacts_to<TakeTensors>, caf::reacts_to<PushedTensors>, caf::reacts_to<PeerAborted>, caf::reacts_to<PeerLost>,
                               caf::reacts_to<ForgetStep>, caf::reacts_to<ForgetSession>, caf::reacts_to<CancelFetch>, caf::reacts_to<LinkLent>,
                               caf::reacts_to<LinkTakenBack>, caf::replies_to<FindLink>::with<LinkLent>>;

/// What both ends of a link need of their node.
struct LinkHost {
  RendezvousActor rendezvous;
  Inbox inbox;
  std::vector<std::uint64_t> incarnations;  // of its devices
  LinkCountersPtr counters;
};

Inbox spawn_inbox(caf::actor_system& system, LinkCountersPtr counters);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::TensorsCame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::FetchTensors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::CancelFetch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::TakeTensors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PushedTensors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerAborted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerLost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Borrow)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LinkLent)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LinkTakenBack)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::FindLink)
