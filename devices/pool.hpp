// A pool of threads for work that is worth a hand-off.
#pragma once

#include <troupe/ops/parallel.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace troupe {

class Spin;

/// Runs jobs in order of submission, which may split themselves over its threads. Threads start with the first job, and look for the next one
/// a little while before they sleep; the destructor runs what is left and joins.
class Pool final : public Helpers {
 public:
  Pool(int threads, std::string name) : size_(threads), name_(std::move(name)) {}
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const override { return size_; }
  void submit(std::function<void()> job) override;
  /// Runs what is left and waits for the threads to end. What is submitted later never runs.
  void join();
  /// Whether a job has come yet.
  bool started();

 private:
  void work();
  void linger(Spin& spin);

  const int size_;
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::atomic<std::size_t> waiting_{0};  // jobs_.size(), for those who look without the lock
  std::atomic<bool> lingers_{false};
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool stopping_ = false, joined_ = false;
};

}  // namespace troupe
