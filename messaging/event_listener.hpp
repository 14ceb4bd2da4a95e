// A debugger's server: it is sent events.
#pragma once

#include <troupe/messaging/status.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Sends serialised events to "host:port", in a stream of their own, and waits until they were taken. Blocks: for threads that may.
Status send_events(const std::string& address, const std::vector<std::string>& events);

}  // namespace troupe
