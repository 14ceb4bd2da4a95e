// Asks a task whether it serves.
#pragma once

#include <troupe/messaging/status.hpp>

#include <chrono>
#include <string>

namespace troupe {

/// Waits at most so long for a GetStatus to be answered. Blocks: for programs that have nothing else to do.
Status probe(const std::string& address, std::chrono::milliseconds patience);

/// In words, by which road tensors travel between here and a task that serves. Blocks likewise.
std::string road_to(const std::string& address, std::chrono::milliseconds patience);

}  // namespace troupe
