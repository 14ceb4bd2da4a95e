// Partitioning: a placed graph becomes one graph per task, with Send and Recv where an edge crosses devices.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <functional>
#include <map>
#include <string>

namespace troupe {

/// The incarnation of a device by its full name.
using Incarnations = std::function<std::uint64_t(const std::string& device)>;

/// One graph per task ("/job:ps/replica:0/task:0"); nodes keep their full device names. `counter` numbers new nodes for the session.
StatusOr<std::map<std::string, wire::GraphDef>> partition(Graph graph, const Incarnations& incarnation_of, std::uint64_t* counter);

/// "/job:ps/replica:0/task:0" of "/job:ps/replica:0/task:0/device:CPU:0".
std::string task_of(const std::string& device);

}  // namespace troupe
