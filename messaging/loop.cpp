// The loop: gRPC events, timers and posted work on one thread.
#include <troupe/messaging/loop.hpp>

#include <pthread.h>

#include <utility>

namespace troupe {
namespace {

gpr_timespec deadline_at(Loop::Clock::time_point due) {
  if (due == Loop::Clock::time_point::max()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(due - Loop::Clock::now()).count();
  if (left <= 0) return gpr_inf_past(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(left, GPR_TIMESPAN));
}

}  // namespace

void Loop::WakeEvent::complete(bool) { loop.wake_pending_.store(false, std::memory_order_release); }

Loop::Loop(LoopScheduler& scheduler, Options options)
    : scheduler_(scheduler),
      options_(std::move(options)),
      spin_(std::chrono::microseconds(options_.spin_us)),
      queue_(std::make_unique<grpc::CompletionQueue>()) {}

Loop::~Loop() { stop(); }

Status Loop::can_adopt() const {
  if (server_queue_ == nullptr && !used_.load(std::memory_order_acquire)) return absl::OkStatus();
  return failed_precondition("The loop's queue is in use already; one server may listen, before the loop starts");
}

void Loop::adopt(std::unique_ptr<grpc::ServerCompletionQueue> queue) {
  discard_events(*queue_);
  server_queue_ = queue.get();
  queue_ = std::move(queue);
}

void Loop::start() {
  if (started_.exchange(true)) return;
  used_.store(true, std::memory_order_release);
  scheduler_.attach(*this);
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "troupe-loop");
}

void Loop::stop() {
  if (stopping_.exchange(true)) return;
  close_operations();
  cancel_tracked();
  queue_->Shutdown();
  if (thread_.joinable()) thread_.join();
  else handle_events();
  scheduler_.detach(*this);
  finish_posts();
}

void Loop::finish_posts() {
  std::vector<std::function<void()>> posts;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    posts.swap(posts_);
    timers_.clear();
  }
  scheduler_.run_inline([&] {
    for (auto& f : posts) f();
  });
}

grpc::CompletionQueue& Loop::queue() {
  used_.store(true, std::memory_order_relaxed);
  return *queue_;
}

void Loop::post(std::function<void()> f) {
  {
    std::unique_lock lock(mutex_);
    if (stopped_) {
      lock.unlock();
      return scheduler_.run_inline(f);
    }
    posts_.push_back(std::move(f));
  }
  if (!on_loop_thread()) wake();
}

void Loop::post_after(std::chrono::nanoseconds delay, std::function<void()> f) {
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    timers_.emplace(Clock::now() + std::chrono::duration_cast<Clock::duration>(delay), std::move(f));
  }
  if (!on_loop_thread()) wake();
}

void Loop::wake() {
  // Before the start nobody sleeps, and an alarm would bind the loop to a queue that a server may still replace.
  if (!started_.load(std::memory_order_acquire)) return;
  if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
  if (Operation operation(*this); operation) alarm_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), wake_event_.tag());
}

void Loop::arm(caf::actor_clock::time_point due) {
  {
    std::lock_guard lock(mutex_);
    clock_due_ = std::min(clock_due_, due);
  }
  if (!on_loop_thread()) wake();
}

void Loop::arrived(TransportEvent& event, bool ok) {
  scheduler_.run_inline([&] { event.complete(ok); });
}

void Loop::run() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (options_.on_thread_start) options_.on_thread_start();
  handle_events();
}

void Loop::handle_events() {
  for (;;) {
    const Clock::time_point due = run_ready();
    void* tag = nullptr;
    bool ok = false;
    const auto found = next_event(&tag, &ok, due);
    if (found == grpc::CompletionQueue::SHUTDOWN) return;
    if (found == grpc::CompletionQueue::GOT_EVENT) arrived(TransportEvent::of(tag), ok);
  }
}

Loop::Clock::time_point Loop::run_ready() {
  std::vector<std::function<void()>> ready;
  bool clock_is_due = false;
  {
    std::lock_guard lock(mutex_);
    ready.swap(posts_);
    if (!timers_.empty() || clock_due_ != Clock::time_point::max()) {
      const auto now = Clock::now();
      const auto end = timers_.upper_bound(now);
      for (auto i = timers_.begin(); i != end; i = timers_.erase(i)) ready.push_back(std::move(i->second));
      clock_is_due = clock_due_ <= now;
      if (clock_is_due) clock_due_ = Clock::time_point::max();
    }
  }
  if (!ready.empty())
    scheduler_.run_inline([&] {
      for (auto& f : ready) f();
    });
  if (clock_is_due) scheduler_.fire_timers();
  scheduler_.pump();
  return next_due();
}

Loop::Clock::time_point Loop::next_due() {
  std::lock_guard lock(mutex_);
  if (!posts_.empty()) return Clock::time_point();
  return timers_.empty() ? clock_due_ : std::min(clock_due_, timers_.begin()->first);
}

grpc::CompletionQueue::NextStatus Loop::next_event(void** tag, bool* ok, Clock::time_point due) {
  if (!spin_.enabled()) return queue_->AsyncNext(tag, ok, deadline_at(due));
  const auto began = Clock::now();
  if (spin_.pays(began)) {
    const auto until = std::min(due, began + spin_.window());
    spin_.begin();
    do {
      const auto found = queue_->AsyncNext(tag, ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
      if (found != grpc::CompletionQueue::TIMEOUT) return spin_.hit(), found;
      std::this_thread::yield();
    } while (Clock::now() < until);
    spin_.miss(Clock::now());
  }
  const auto found = queue_->AsyncNext(tag, ok, deadline_at(due));
  spin_.parked(Clock::now() - began);
  return found;
}

}  // namespace troupe
