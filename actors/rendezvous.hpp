// Where tensors that go to other tasks wait to be fetched.
#pragma once

#include <caf/all.hpp>
#include <troupe/messaging/messages.hpp>

#include <map>
#include <set>
#include <string>

namespace troupe {

/// A tensor to hand over; a dead one where `is_dead`.
struct PutTensor {
  std::int64_t step = 0;
  std::string key;
  Parcel<RecvTensorResponse> value;
};
/// The step has failed: whoever waits, or comes later, gets the reason.
struct AbortStep {
  std::int64_t step = 0;
  Status reason;
};
/// The step is over: forget it.
struct ForgetStep {
  std::int64_t step = 0;
};

using RendezvousActor = caf::typed_actor<caf::replies_to<Parcel<RecvTensorRequest>>::with<Parcel<RecvTensorResponse>>, caf::reacts_to<PutTensor>,
                                         caf::reacts_to<AbortStep>, caf::reacts_to<ForgetStep>, caf::reacts_to<CancelCall>>;

RendezvousActor spawn_rendezvous(caf::actor_system& system);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PutTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::AbortStep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ForgetStep)
