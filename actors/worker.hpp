// The worker: keeps registered graphs and runs them on its devices.
#pragma once

#include <troupe/wire/device_attributes.pb.h>
#include <troupe/wire/server.pb.h>
#include <caf/all.hpp>
#include <troupe/actors/device.hpp>
#include <troupe/actors/services.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct WorkerParts {
  std::string task;  // "/job:ps/replica:0/task:0"
  std::vector<wire::DeviceAttributes> attributes;
  std::vector<Device> devices;  // in the order of attributes
  RendezvousActor rendezvous;
  Inbox inbox;
  std::shared_ptr<const Peers> peers;  // the other tasks of the cluster
  /// Peers of a cluster that a session brought along.
  std::function<std::shared_ptr<const Peers>(const wire::ServerDef&)> join_cluster;
};

Worker spawn_worker(caf::actor_system& system, WorkerParts parts);

}  // namespace troupe
