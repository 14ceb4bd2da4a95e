// Protobuf messages to and from gRPC's byte buffers, without flattening them.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <troupe/messaging/status.hpp>

#include <concepts>

namespace troupe {

/// False when the bytes are not that message.
bool parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);
grpc::ByteBuffer serialize(const google::protobuf::MessageLite& message);

/// The message, or the INTERNAL status a TensorFlow server gives for a body it cannot read.
template <std::derived_from<google::protobuf::MessageLite> Proto>
StatusOr<Proto> parsed(const grpc::ByteBuffer& bytes) {
  Proto message;
  if (!parse(bytes, &message)) return internal("Unable to parse request");
  return message;
}

}  // namespace troupe
