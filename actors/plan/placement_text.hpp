// What a placement that fails says, in TensorFlow's words.
#pragma once

#include <troupe/actors/plan/colocation.hpp>

#include <string>
#include <vector>

namespace troupe {

/// The status with its node named at the end; in braces, which clients look for, unless the text names a node so already.
Status with_node(const Status& status, const Node& node);

/// `place` is the node's place in the order of the graph.
Status malformed_device(const Graph& graph, int node, int place);

/// No device fits what the node itself asks.
Status no_such_device(const Node& node, std::vector<std::string> devices);

/// No device fits what the node's group asks.
Status no_device_for_group(const Graph& graph, int node, Colocation& groups, const std::vector<std::string>& devices);

}  // namespace troupe
