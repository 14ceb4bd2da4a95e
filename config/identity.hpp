// Who this node is: its cluster, its task and where it listens, from options and environment.
#pragma once

#include <troupe/config/cluster.hpp>
#include <troupe/config/options.hpp>
#include <troupe/messaging/status.hpp>

#include <string>
#include <vector>

namespace troupe {

/// A settled identity. The cluster always has an entry for the task itself.
struct NodeIdentity {
  Cluster cluster;
  Task task;
  /// How others reach this task: its entry in the cluster, or `localhost:port` where it has none. Port 0 means that the
  /// port is known only once the node listens.
  std::string own_address;
  /// Where to listen, without ports and brackets; `::` is all interfaces, IPv4 as well.
  std::vector<std::string> listen_hosts;
  int port = 0;
  bool all_interfaces = false;
  /// One line each, for the log.
  std::vector<std::string> warnings;
};

/// Settles who this node is. Options win over TF_CONFIG part by part; without either it is task 0 of the job `local`.
/// Errors read `where: what; what to do`.
StatusOr<NodeIdentity> resolve(const NodeOptions& options, const Environment& environment);

}  // namespace troupe
