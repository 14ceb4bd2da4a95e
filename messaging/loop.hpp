// The thread that does everything: it waits for gRPC events, timers and posted work, and runs the actors they make ready.
#pragma once

#include <grpcpp/alarm.h>
#include <troupe/messaging/loop_scheduler.hpp>
#include <troupe/messaging/spin.hpp>
#include <troupe/messaging/transport.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// One completion queue and the one thread that polls it. Owned by the composition root; all functions but start, stop and
/// adopt may be called from any thread. Stop the servers first, then the loop, then let go of the actor system.
class Loop final : public Transport, private LoopHost {
 public:
  struct Options {
    int spin_us = 0;                        // poll so long before parking, while traffic is recent; 0 parks at once
    std::function<void()> on_thread_start;  // runs first on the loop's thread
  };
  using Clock = std::chrono::steady_clock;

  explicit Loop(LoopScheduler& scheduler) : Loop(scheduler, Options{}) {}
  Loop(LoopScheduler& scheduler, Options options);
  /// Stops.
  ~Loop() override;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Whether a server may give the loop its queue: once, before the start, and before anybody used queue().
  Status can_adopt() const override;
  /// The queue is polled instead of one of its own.
  void adopt(std::unique_ptr<grpc::ServerCompletionQueue> queue) override;
  grpc::ServerCompletionQueue* server_queue() const override { return server_queue_; }

  void start();
  /// Cancels outgoing calls and timers, handles what is left in the queue and joins the thread. Not from the loop's thread.
  void stop();

  grpc::CompletionQueue& queue() override;
  /// On the loop's thread. Before start it waits; after stop it runs at once.
  void post(std::function<void()> f) override;
  void post_after(std::chrono::nanoseconds delay, std::function<void()> f) override;
  void arrived(TransportEvent& event, bool ok) override;
  bool on_loop_thread() const { return thread_id_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  LoopScheduler& scheduler() { return scheduler_; }

 private:
  /// Clears the way for the next wake; the work itself is found by looking.
  struct WakeEvent final : TransportEvent {
    explicit WakeEvent(Loop& l) : TransportEvent(l), loop(l) {}
    void complete(bool ok) override;
    Loop& loop;
  };
  void wake() override;
  void arm(caf::actor_clock::time_point due) override;

  void run();
  void handle_events();
  /// Runs what waits; tells until when there is nothing to do but events.
  Clock::time_point run_ready();
  Clock::time_point next_due();
  grpc::CompletionQueue::NextStatus next_event(void** tag, bool* ok, Clock::time_point due);
  void finish_posts();

  LoopScheduler& scheduler_;
  Options options_;
  Spin spin_;
  std::unique_ptr<grpc::CompletionQueue> queue_;
  grpc::ServerCompletionQueue* server_queue_ = nullptr;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};
  std::atomic<bool> started_{false}, stopping_{false}, used_{false};
  std::atomic<bool> wake_pending_{false};
  WakeEvent wake_event_{*this};
  grpc::Alarm alarm_;

  std::mutex mutex_;  // guards what follows
  bool stopped_ = false;
  std::vector<std::function<void()>> posts_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
  Clock::time_point clock_due_ = Clock::time_point::max();
};

}  // namespace troupe
