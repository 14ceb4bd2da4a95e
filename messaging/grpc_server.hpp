// The gRPC server: methods and streams by name, bodies as raw bytes, every call an object that is answered once.
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
#include <vector>

namespace troupe {

/// A call in progress. Answer it once, from any thread; who lets go of it unanswered answers INTERNAL.
class ServerCall {
 public:
  const int method;          // index into the server's table
  grpc::ByteBuffer request;  // the receiver may take it
  /// Set by the receiver inside OnCall. Called at most once, on the loop, when the client has gone away or its deadline has
  /// passed and no answer was given yet; an answer is then still allowed and goes nowhere.
  std::function<void()> on_cancelled;

  virtual void reply(grpc::ByteBuffer response) = 0;
  /// An answer whose body tells of a failure.
  virtual void reply_failure(grpc::ByteBuffer response) { reply(std::move(response)); }
  /// The status with its payloads. A text beyond 3072 bytes is cut as TensorFlow cuts it.
  virtual void fail(const Status& status) = 0;
  /// "ipv4:127.0.0.1:4711".
  virtual std::string peer() const = 0;
  /// Until the client's deadline; nothing when it has none.
  virtual std::optional<std::chrono::milliseconds> time_left() const = 0;

 protected:
  explicit ServerCall(int m) : method(m) {}
  virtual ~ServerCall() = default;
};

/// Called on the loop, inside run_inline, for every call.
using OnCall = std::function<void(std::shared_ptr<ServerCall>)>;
/// Likewise for every stream that a peer opens; its functions are set before the loop takes its next event.
using OnStream = std::function<void(std::shared_ptr<Stream>)>;

/// Serves a table of methods on a transport. Owned by the composition root, and destroyed before the transport.
class GrpcServer {
 public:
  /// Methods by full path: "/tensorflow.MasterService/RunStep".
  GrpcServer(Transport& transport, std::vector<std::string> methods, OnCall on_call)
      : GrpcServer(transport, std::move(methods), std::move(on_call), "", nullptr) {}
  /// With one bidirectional stream besides, by its path.
  GrpcServer(Transport& transport, std::vector<std::string> methods, OnCall on_call, std::string stream, OnStream on_stream);
  /// Shuts down at once.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// Listens on every address ("host:port", "[::1]:port"), before a loop starts. Port 0 picks a free one, the same for all
  /// addresses that ask for 0. UNAVAILABLE names an address that is taken. Among several, those of a family that this machine
  /// has not are left out.
  Status listen(const std::vector<std::string>& addresses, int* port);
  /// Takes no new calls, waits for the open ones until the deadline, then cancels them. Not where events complete.
  void shutdown(std::chrono::milliseconds deadline);

 private:
  class Methods;
  class Call;
  class Accepted;
  Transport& transport_;
  std::vector<std::string> paths_;
  OnCall on_call_;
  std::string stream_path_;
  OnStream on_stream_;
  std::shared_ptr<Methods> methods_;  // while listening
};

}  // namespace troupe
