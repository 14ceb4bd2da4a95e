// A session: one client's graph, placed over the tasks it sees, and its steps.
#pragma once

#include <troupe/wire/cluster.pb.h>
#include <caf/all.hpp>
#include <troupe/actors/device.hpp>
#include <troupe/actors/services.hpp>
#include <troupe/actors/step.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe {

/// What a master and its sessions know of the world.
struct Surroundings {
  std::string task;                             // own
  std::vector<wire::DeviceAttributes> devices;  // own
  Worker worker;                                // own
  std::shared_ptr<const Peers> peers;
  wire::ConfigProto default_config;
  /// Peers of a cluster that a client brought along.
  std::function<std::shared_ptr<const Peers>(const wire::ClusterDef&)> join_cluster;
};

/// Drops the session without the courtesy of an answer: a Reset.
struct Evict {
  Status reason;
};

/// Time to ask a task again that has not answered.
struct AskAgain {
  std::string task;
};

#define ROW(name) caf::replies_to<Parcel<native<wire::name##Request>>>::with<Parcel<native<wire::name##Response>>>
using Session = caf::typed_actor<ROW(CreateSession), ROW(ExtendSession), ROW(PartialRunSetup), ROW(RunStep), ROW(CloseSession), ROW(ListDevices),
                                 ROW(MakeCallable), ROW(RunCallable), ROW(ReleaseCallable), caf::reacts_to<CancelCall>, caf::reacts_to<Evict>,
                                 caf::reacts_to<AskAgain>>;
#undef ROW

Session spawn_session(caf::actor_system& system, std::shared_ptr<const Surroundings> surroundings, std::string handle);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Evict)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::AskAgain)
