// Where gRPC operations are started and where their events come back: a loop of its own, or a service's executor.
#pragma once

#include <grpcpp/completion_queue.h>
#include <troupe/messaging/status.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#ifdef TROUPE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace troupe {

class Transport;

/// The tag of a gRPC operation. It completes once, inside run_inline, where its transport runs what has come.
class TransportEvent {
 public:
  explicit TransportEvent(Transport& home) : home_(home) {}
  virtual void complete(bool ok) = 0;
  Transport& home() const { return home_; }

  /// What gRPC carries, taken where the operation starts; `of` gives the event back. Who has that sees what was written before, by gRPC's
  /// own order, of which ThreadSanitizer has to be told.
  void* tag() {
#ifdef TROUPE_TSAN
    __tsan_release(this);
#endif
    return this;
  }
  static TransportEvent& of(void* tag) {
#ifdef TROUPE_TSAN
    __tsan_acquire(tag);
#endif
    return *static_cast<TransportEvent*>(tag);
  }

 protected:
  ~TransportEvent() = default;

 private:
  Transport& home_;
};

/// Something to give up when the transport stops: an outgoing call.
class TransportCancellable {
 public:
  virtual void cancel() = 0;

 protected:
  ~TransportCancellable() = default;
};

/// Closes a queue that nobody polls and drops what is in it.
void discard_events(grpc::CompletionQueue& queue);

/// What servers, calls and streams need. Owned by the composition root, and outlives their events. Any thread may call it.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Whether a server may listen here.
  virtual Status can_adopt() const = 0;
  /// The queue for servers, or null when a server is to make one and have it adopted.
  virtual grpc::ServerCompletionQueue* server_queue() const = 0;
  /// Polls a server's queue; a server's listen does this where there was none.
  virtual void adopt(std::unique_ptr<grpc::ServerCompletionQueue> queue) = 0;
  /// Start operations on it only inside an Operation that holds.
  virtual grpc::CompletionQueue& queue() = 0;
  /// Runs f inside run_inline where events complete, in order of posting.
  virtual void post(std::function<void()> f) = 0;
  /// The same, not before the delay has passed. Dropped when the transport stops.
  virtual void post_after(std::chrono::nanoseconds delay, std::function<void()> f) = 0;
  /// An event has come in on a queue that several transports share.
  virtual void arrived(TransportEvent& event, bool ok) = 0;

  /// Keeps the queue open while an operation is started on it; false when the transport has stopped.
  class Operation {
   public:
    explicit Operation(Transport& transport) : transport_(transport), holds_(transport.begin_operation()) {}
    ~Operation() {
      if (holds_) transport_.end_operation();
    }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    explicit operator bool() const { return holds_; }

   private:
    Transport& transport_;
    bool holds_;
  };

  /// Between these two, stopping cancels it.
  void track(TransportCancellable& cancellable);
  void untrack(TransportCancellable& cancellable);

  /// Counts operations, and calls, whose events have not all completed yet.
  void began() { under_way_.fetch_add(1, std::memory_order_relaxed); }
  void ended() {
    if (under_way_.fetch_sub(1, std::memory_order_acq_rel) == 1 && closed()) idle();
  }

 protected:
  Transport() = default;
  /// From here on no operation is started.
  void close_operations();
  void cancel_tracked();
  bool closed() const { return (operations_.load() & closed_bit) != 0; }
  std::int64_t under_way() const { return under_way_.load(std::memory_order_acquire); }
  /// The last operation of a closed transport has completed.
  virtual void idle() {}

 private:
  static constexpr std::int64_t closed_bit = std::int64_t{1} << 62;
  bool begin_operation();
  void end_operation();

  std::atomic<std::int64_t> operations_{0};  // being started now, and a bit for closed
  std::atomic<std::int64_t> under_way_{0};
  std::mutex tracked_mutex_;
  std::set<TransportCancellable*> tracked_;
};

}  // namespace troupe
