// What a client's debugger asks to watch: copies of tensors and ops that publish them, put into a device's part of a graph.
#pragma once

#include <troupe/wire/debug.pb.h>
#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Each watched tensor is copied, the debugger's ops take the copy, and those who read the tensor read the copy and wait for the ops. An op
/// that cannot be made is FAILED_PRECONDITION, unless its watch tolerates that.
Status insert_watches(Graph& graph, const wire::DebugOptions& options, const std::string& device);

/// All places that watches publish to, each once.
std::vector<std::string> debug_urls(const wire::DebugOptions& options);

}  // namespace troupe
