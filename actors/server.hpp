// A node that is a process of its own: its actors on a loop that serves gRPC.
#pragma once

#include <troupe/config/identity.hpp>
#include <troupe/config/options.hpp>
#include <troupe/messaging/status.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace troupe {

/// A task of a cluster, serving until it is stopped. Start and stop it from a thread that is none of its own.
class Server {
 public:
  static StatusOr<std::unique_ptr<Server>> start(const NodeIdentity& identity, const NodeOptions& options);
  ~Server();

  /// "grpc://localhost:2222"
  std::string target() const;
  /// "/job:worker/replica:0/task:0"
  const std::string& task() const;
  int port() const;

  /// Takes no new work, gives steps this long to finish, cancels and answers the rest.
  void stop(std::chrono::milliseconds grace);

 private:
  Server();
  struct Stand;
  std::unique_ptr<Stand> stand_;
};

}  // namespace troupe
