// The one place where absl::Status and caf::error are turned into each other.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/error.hpp>
#include <troupe/messaging/status.hpp>

namespace troupe {

/// Text and payloads ride along; OK becomes none.
caf::error to_caf(const Status& status);
/// The status that became the error. CAF's own errors get the nearest code: a dead receiver is UNAVAILABLE, a timeout
/// DEADLINE_EXCEEDED, the rest INTERNAL.
Status from_caf(const caf::error& error);

}  // namespace troupe

namespace caf {
template <>
struct allowed_unsafe_message_type<absl::Status> : std::true_type {};
}  // namespace caf
