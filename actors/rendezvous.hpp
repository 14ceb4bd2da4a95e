// Where tensors that go to other tasks wait to be fetched.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/link.hpp>
#include <troupe/messaging/messages.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A tensor to hand over; a dead one where `is_dead`.
struct KeyedTensor {
  std::string key;
  Parcel<RecvTensorResponse> value;
};
/// What a step has made in one go for other tasks and devices.
struct PutTensors {
  std::int64_t step = 0;
  std::shared_ptr<const std::string> session;  // none for those who never made one
  std::vector<KeyedTensor> tensors;
  std::uint64_t want = 0;  // on their way to a linked node: the number that node gave
};
/// The step has failed: whoever waits, or comes later, gets the reason.
struct AbortStep {
  std::int64_t step = 0;
  Status reason;
  std::string session;
};
/// The step is over: forget it.
struct ForgetStep {
  std::int64_t step = 0;
};

/// The session is closed: forget its steps and who wanted their tensors.
struct ForgetSession {
  std::string session;
};

/// Takes tensors that go to a linked node, and the news that none will come.
using Pushes = caf::typed_actor<caf::reacts_to<PutTensors>, caf::reacts_to<AbortStep>>;

/// A linked node wants all that a session's steps make for a task, under the number it gives.
struct WantPushes {
  std::string session, task;
  std::uint64_t number = 0;
  Pushes to;
};
struct UnwantPushes {
  std::uint64_t number = 0;
  Pushes to;
};
/// The linked node is gone: what was pushed to it may not have arrived.
struct PushesLost {
  Pushes to;
  Status reason;
};

using RendezvousActor =
    caf::typed_actor<caf::replies_to<Parcel<RecvTensorRequest>>::with<Parcel<RecvTensorResponse>>, caf::reacts_to<PutTensors>,
                     caf::reacts_to<AbortStep>, caf::reacts_to<ForgetStep>, caf::reacts_to<CancelCall>, caf::reacts_to<WantPushes>,
                     caf::reacts_to<UnwantPushes>, caf::reacts_to<PushesLost>, caf::reacts_to<ForgetSession>>;

RendezvousActor spawn_rendezvous(caf::actor_system& system, LinkCountersPtr counters);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PutTensors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::AbortStep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ForgetStep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ForgetSession)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::WantPushes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::UnwantPushes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PushesLost)
