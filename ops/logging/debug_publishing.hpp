// What a debugger's ops and the runtime tell a debugger: events in files below a directory.
#pragma once

#include <troupe/wire/event.pb.h>
#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <string>
#include <vector>

namespace troupe {

/// What is published of a tensor: whose it is, and which op made it of what it watched.
struct WatchedTensor {
  std::string node;
  int slot = 0;
  std::string op, device;
};

/// Whether to publish there is to wait for another process, rather than to write files.
bool waits_for_servers(const std::vector<std::string>& urls);
/// Blocks while it writes.
Status publish_tensor(const WatchedTensor& watched, const Tensor& tensor, const std::vector<std::string>& urls);
/// A device's part of a graph, serialised, as it will run.
Status publish_graph(const std::string& device, const std::string& graph_def, const std::vector<std::string>& urls);

/// One run of a step.
struct DebuggedRun {
  std::int64_t global_step = 0, number = 0;
  std::vector<std::string> feeds, fetches, targets;
};
Status publish_run(const DebuggedRun& run, const std::vector<std::string>& urls);

}  // namespace troupe
