// Placement: every node of a graph gets a device, by TensorFlow's rules.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <string>
#include <vector>

namespace troupe {

struct PlacementRequest {
  std::vector<std::string> devices;  // full names of all devices of the session
  std::string default_device;        // the master's own CPU
  bool allow_soft_placement = false;
};

/// Sets Node::device of every node that has none yet, or, when it fails, of none; placed nodes keep theirs. An op without a kernel is
/// placed like any other.
Status place(Graph& graph, const PlacementRequest& request);

/// Forgets the devices of nodes without state. TensorFlow does so when a graph has grown: new neighbours may draw them elsewhere.
void unsettle(Graph& graph);

}  // namespace troupe
