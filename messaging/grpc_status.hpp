// Statuses to and from gRPC's, payloads included, and the channel arguments both ends share.
#pragma once

#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>
#include <troupe/messaging/status.hpp>

#include <string>

namespace troupe {

/// Payloads become the container TensorFlow puts into the trailing metadata; a text beyond 3072 bytes is cut.
grpc::Status to_grpc(const Status& status);
/// The inverse; "Stream removed" of a vanished peer counts as UNAVAILABLE.
Status from_grpc(const grpc::Status& status);

/// Metadata may be this large; a header beyond the default of 8 KB would otherwise end the call.
inline constexpr int max_metadata_bytes = 64 * 1024;
/// Large frames arrive in large slices, which can become tensors as they are.
inline constexpr int max_frame_bytes = 16 * 1024 * 1024 - 1;

}  // namespace troupe
