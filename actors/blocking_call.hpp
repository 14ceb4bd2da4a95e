// One unary call that blocks: for programs of our own that have nothing else to do.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <troupe/messaging/status.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace troupe {

std::shared_ptr<grpc::Channel> dial(const std::string& address);

/// `method` is a full path. Waits at most so long; for the peer to come up too, where asked.
StatusOr<grpc::ByteBuffer> blocking_call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method, const grpc::ByteBuffer& request,
                                         std::chrono::milliseconds patience, bool wait_for_peer);

}  // namespace troupe
