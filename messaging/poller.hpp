// The one thread that polls gRPC for all of a process's transports that have no loop of their own.
#pragma once

#include <grpcpp/completion_queue.h>

#include <memory>
#include <thread>

namespace grpc {
class ServerBuilder;
}

namespace troupe {

/// Hands every event to its transport and does nothing else. Any thread may use it.
class Poller {
 public:
  /// The process's own: it begins with the first who asks and ends when the last lets go. That one waits for the thread, unless it is
  /// the thread itself, which then ends on its own.
  static std::shared_ptr<Poller> shared();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// For the calls and servers of all.
  grpc::ServerCompletionQueue& queue() { return *queue_; }

 private:
  struct Queue final : grpc::ServerCompletionQueue {};
  Poller();

  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();  // the thread's too
  std::thread thread_;
};

/// Lets a server that is about to be built use a queue that other servers use as well.
void share_queue(grpc::ServerBuilder& builder, grpc::ServerCompletionQueue& queue);

}  // namespace troupe
