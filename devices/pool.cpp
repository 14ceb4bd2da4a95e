// The pool's threads.
#include <troupe/devices/pool.hpp>

#include <troupe/devices/float_mode.hpp>

#include <pthread.h>
#include <signal.h>

namespace troupe {

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
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace troupe
