// gRPC for a stage: the process's one transport thread polls, and everything that comes is posted to the stage.
#pragma once

#include <troupe/actors/embed/stage_core.hpp>
#include <troupe/messaging/poller.hpp>
#include <troupe/messaging/transport.hpp>

#include <functional>
#include <memory>
#include <mutex>

namespace troupe::embed {

/// Of one node, or of one connection. gRPC begins when it is first needed. To be closed before it is let go.
class StageTransport final : public Transport {
 public:
  explicit StageTransport(std::shared_ptr<StageCore> stage) : stage_(std::move(stage)) {}

  Status can_adopt() const override { return absl::OkStatus(); }
  grpc::ServerCompletionQueue* server_queue() const override { return &poller().queue(); }
  void adopt(std::unique_ptr<grpc::ServerCompletionQueue> queue) override { discard_events(*queue); }
  grpc::CompletionQueue& queue() override { return poller().queue(); }
  void post(std::function<void()> f) override { stage_->post(std::move(f)); }
  void post_after(std::chrono::nanoseconds delay, std::function<void()> f) override;
  void arrived(TransportEvent& event, bool ok) override;

  /// Where the actors run: cancels outgoing calls and timers, and calls `done` there when the last event has completed. Servers
  /// have shut down before.
  void close(std::function<void()> done);

 private:
  Poller& poller() const;
  void idle() override;

  std::shared_ptr<StageCore> stage_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Poller> poller_;
  std::function<void()> done_;  // touched where the actors run
};

}  // namespace troupe::embed
