// The pool's threads.
#include <troupe/devices/pool.hpp>

#include <troupe/devices/float_mode.hpp>
#include <troupe/messaging/spin.hpp>

#include <pthread.h>
#include <signal.h>

namespace troupe {
namespace {

/// A kernel is mostly followed by another within this time, and waking a thread takes as long.
constexpr std::chrono::microseconds between_kernels{60};

}  // namespace

Pool::~Pool() { join(); }

void Pool::join() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
  std::lock_guard lock(mutex_);
  threads_.clear();
  joined_ = true;
}

bool Pool::started() {
  std::lock_guard lock(mutex_);
  return !threads_.empty();
}

void Pool::submit(std::function<void()> job) {
  std::unique_lock lock(mutex_);
  if (joined_) return;
  jobs_.push_back(std::move(job));
  waiting_.store(jobs_.size(), std::memory_order_relaxed);
  if (!stopping_ && idle_ == 0 && static_cast<int>(threads_.size()) < size_) threads_.emplace_back([this] { work(); });
  lock.unlock();
  wake_.notify_one();
}

void Pool::work() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  flush_denormals();
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const HelpersScope splitting(this);
  Spin spin(between_kernels);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const auto began = Spin::Clock::now();
    if (jobs_.empty() && !stopping_) {
      lock.unlock();
      linger(spin);
      lock.lock();
    }
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    waiting_.store(jobs_.size(), std::memory_order_relaxed);
    lock.unlock();
    spin.parked(Spin::Clock::now() - began);
    job();
    job = nullptr;
    lock.lock();
  }
}

void Pool::linger(Spin& spin) {
  const auto began = Spin::Clock::now();
  if (!spin.pays(began) || lingers_.exchange(true)) return;  // one finds the next job; the other cores are for others
  const auto until = began + spin.window();
  spin.begin();
  // Without yielding: who yields to a thread that computes gets the core back milliseconds later.
  while (waiting_.load(std::memory_order_relaxed) == 0 && Spin::Clock::now() < until) {
  }
  if (waiting_.load(std::memory_order_relaxed) > 0) spin.hit();
  else spin.miss(Spin::Clock::now());
  lingers_.store(false);
}

}  // namespace troupe
