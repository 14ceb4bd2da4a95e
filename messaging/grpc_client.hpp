// Outgoing calls and streams over a transport's completion queue, bodies as raw bytes.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <troupe/messaging/status.hpp>
#include <troupe/messaging/stream.hpp>
#include <troupe/messaging/transport.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace grpc {
class Channel;
}

namespace troupe {

/// A call under way. Any thread may cancel it; letting go of it does not.
class ClientCall {
 public:
  virtual void cancel() = 0;

 protected:
  virtual ~ClientCall() = default;
};

using OnReply = std::function<void(StatusOr<grpc::ByteBuffer>)>;

/// A connection to one task, made when first needed and made again with at most a second between attempts. Any thread may use it.
class Channel {
 public:
  /// Address "host:port" or "[::1]:port"; `target`, "/job:ps/replica:0/task:0", is named in errors, unless empty.
  Channel(std::string address, Transport& transport, std::string target = {});
  ~Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;

  /// Calls `done` exactly once, where events complete (after the transport has stopped: here and now). A failure has the callee's code, text
  /// and payloads, with TensorFlow's note on the remote target after the text.
  std::shared_ptr<ClientCall> call(const std::string& method, grpc::ByteBuffer request, std::optional<std::chrono::milliseconds> deadline,
                                   bool wait_for_ready, OnReply done);

  /// A stream that opens when start() is called; what is written before waits. Its closing status has no note.
  class Outgoing : public Stream {
   public:
    virtual void start() = 0;

   protected:
    using Stream::Stream;
  };
  std::shared_ptr<Outgoing> stream(const std::string& method);
  /// A status as a failed call of this method would have it: with TensorFlow's note on the remote target after the text.
  Status noted(const Status& status, const std::string& method, const std::string& peer) const;

  const std::string& address() const { return address_; }
  const std::string& target() const { return target_; }

 private:
  std::string address_, target_;
  Transport* transport_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace troupe
