// Values that a step only waits for are not computed, as TensorFlow's dependency optimizer has it.
#pragma once

#include <troupe/wire/rewriter_config.pb.h>
#include <troupe/ops/graph.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Whether a session's wishes, and the size of its graph, let steps leave out values that nobody reads.
bool leaves_out_unread(const wire::RewriterConfig& wishes, int graph_size);

/// Nodes without effects that are only waited for become NoOps, and so do those that only they read; targets stay. For lowered steps.
void leave_out_unread(Graph& step, const std::vector<std::string>& targets);

}  // namespace troupe
