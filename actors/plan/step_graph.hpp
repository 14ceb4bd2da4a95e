// The graph of one step: feeds and fetches made nodes, everything not needed left out.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <set>
#include <string>
#include <vector>

namespace troupe {

/// What a client asks of a graph. Feeds and fetches are tensor names ("x:0"), targets node names.
struct StepShape {
  std::vector<std::string> feeds, fetches, targets;
  std::vector<std::pair<std::string, std::string>> connections;  // what is taken from the first tensor instead of the second
};

/// Cuts the step out of a placed graph. A feed becomes a Recv and a fetch a Send on the client's device, under the client's tensor names.
StatusOr<Graph> cut_step(const Graph& graph, const StepShape& shape, const std::string& client_device, std::uint64_t client_incarnation);

/// The rendezvous key under which a tensor goes between client and graph.
std::string client_key(const std::string& client_device, std::uint64_t incarnation, const std::string& tensor);

/// What a piece of a partial run asks for must not need what has not been fed yet.
Status check_fetches(const Graph& graph, const std::set<std::string>& unfed, const std::vector<std::string>& fetches);

}  // namespace troupe
