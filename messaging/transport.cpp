// What all transports share: the gate for operations, and the calls to cancel.
#include <troupe/messaging/transport.hpp>

#include <thread>

namespace troupe {

void discard_events(grpc::CompletionQueue& queue) {
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
  }
}

void Transport::track(TransportCancellable& cancellable) {
  std::lock_guard lock(tracked_mutex_);
  tracked_.insert(&cancellable);
}

void Transport::untrack(TransportCancellable& cancellable) {
  std::lock_guard lock(tracked_mutex_);
  tracked_.erase(&cancellable);
}

void Transport::close_operations() {
  operations_.fetch_or(closed_bit);
  while (operations_.load() != closed_bit) std::this_thread::yield();
}

void Transport::cancel_tracked() {
  std::lock_guard lock(tracked_mutex_);
  for (TransportCancellable* cancellable : tracked_) cancellable->cancel();
}

bool Transport::begin_operation() {
  if ((operations_.fetch_add(1) & closed_bit) == 0) return true;
  end_operation();
  return false;
}

void Transport::end_operation() { operations_.fetch_sub(1); }

}  // namespace troupe
