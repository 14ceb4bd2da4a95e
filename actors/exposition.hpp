// A node's metrics as a page of text in the format of Prometheus.
#pragma once

#include <troupe/wire/summary.pb.h>
#include <troupe/devices/staleness.hpp>

#include <string>

namespace troupe {

/// Staleness, gradients and waits as TensorBoard shows them.
void add_staleness(const Staleness::Counts& counts, wire::Summary& summary);

/// The numbers of a summary (`calls/<method>/x` is `troupe_calls_x{method=...}`, `links/x` is `troupe_links_x`), then staleness.
std::string exposition(const wire::Summary& summary, const Staleness::Counts& counts);

}  // namespace troupe
