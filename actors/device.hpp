// A device as an actor: it owns its resources and runs plans to their end or to the next wait.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/peer.hpp>
#include <troupe/actors/rendezvous.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/devices/execution.hpp>
#include <troupe/devices/plan.hpp>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// What the runs of one session have in common.
struct SessionFacts {
  std::shared_ptr<const std::string> name;  // none for those who never made one
  std::string task;                         // this one, as the session names it
  std::string store;                        // of a session that keeps its own resources; empty for the shared one
  std::string worker;                       // the task whose master runs the steps; empty where that is not known
  std::shared_ptr<const Peers> peers;
  std::string name_or_empty() const { return name ? *name : std::string(); }
};
struct RunPlan {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const SessionFacts> session;
  std::string device;  // as the session names it
  std::int64_t step = 0;
  std::vector<NamedTensor> feeds;
  bool partial = false;  // more feeds will come, fetches are asked for one by one
  bool alone = false;    // no other device of this task has a part in the run: its end is the run's
  bool record = false;
};
/// More feeds for a partial run, and the fetches that are wanted now.
struct FeedMore {
  std::int64_t step = 0;
  std::vector<NamedTensor> feeds;
  std::vector<std::string> fetches;
};
struct Fetched {
  std::vector<NamedTensor> tensors;
};
/// The containers to empty; none means the default one.
struct EraseContainers {
  std::vector<std::string> containers;
};
struct EraseStore {
  std::string store;
};
/// Asks for a resource variable's value once its version is another than this; cancelled by its number.
struct AwaitVersion {
  std::string container, name;
  std::uint64_t known = 0;
  std::uint64_t call = 0;
};
/// How often the variable was written, and what it holds: never changed by later writes.
struct VariableVersion {
  std::uint64_t number = 0;
  Tensor value;
};
/// Work that comes back from another thread.
struct Job {
  std::shared_ptr<std::function<void()>> work;
};

using Device = caf::typed_actor<caf::replies_to<Parcel<RunPlan>>::with<Parcel<RunGraphResponse>>, caf::replies_to<Parcel<FeedMore>>::with<Parcel<Fetched>>,
                                caf::reacts_to<CancelCall>, caf::reacts_to<EraseContainers>, caf::reacts_to<EraseStore>, caf::reacts_to<ForgetStep>,
                                caf::reacts_to<Job>, caf::replies_to<AwaitVersion>::with<VariableVersion>, caf::reacts_to<TensorsCame>>;

struct DeviceFacts {
  std::string name;  // full
  std::string task;
  std::uint64_t incarnation = 0;
  std::string default_container;
  bool computes_elsewhere = true;             // long kernels go to threads of their own
  std::shared_ptr<Staleness> staleness = {};  // for metrics; may be none
};

/// Runs jobs on threads of their own; given by the composition root.
using Offload = std::function<void(std::function<void()>, Place)>;

Device spawn_device(caf::actor_system& system, DeviceFacts facts, RendezvousActor rendezvous, Offload offload);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::EraseContainers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::EraseStore)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::AwaitVersion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::VariableVersion)
