// The actor between workers and shards in real time: takes gradients, lets the policy decide, hands out the next work.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/lab/training.hpp>

#include <memory>

namespace troupe::lab {

/// What a worker does next: compute a gradient of the batch at the parameters, or stop.
struct Assignment {
  bool stop = false;
  Parameters parameters;
  Examples batch;
};

/// A worker is there, with a gradient but for the first time. Answered when it may go on, however long that takes.
struct Deliver {
  int worker = 0;
  std::shared_ptr<const Gradient> gradient;
  double computing = 0;  // seconds it took
};
/// A worker is gone, and with it what it computed.
struct Crashed {
  int worker = 0;
  std::shared_ptr<const Gradient> gradient;
  bool for_good = false;
};
/// A worker cannot go on: nobody shall.
struct WorkerFailed {
  Status reason;
};
struct LookAtTheClock {};
/// No worker is left: what was it like?
struct Conclude {};

using AssignmentPtr = std::shared_ptr<const Assignment>;
using RecordPtr = std::shared_ptr<const StatusOr<RunRecord>>;

using Job = caf::typed_actor<caf::replies_to<Deliver>::with<AssignmentPtr>, caf::reacts_to<Crashed>, caf::reacts_to<WorkerFailed>,
                             caf::reacts_to<LookAtTheClock>, caf::replies_to<Conclude>::with<RecordPtr>>;

/// On a thread of its own, since it waits for the nodes that hold the shards. Time counts from the first delivery.
Job spawn_job(caf::actor_system& system, TrainingParts parts);

}  // namespace troupe::lab

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::Deliver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::Crashed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::WorkerFailed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::LookAtTheClock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::Conclude)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::AssignmentPtr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lab::RecordPtr)
