// Helpers for kernels under test.
#pragma once

#include <troupe/ops/parallel.hpp>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace troupe {

/// A thread per job.
class Threads final : public Helpers {
 public:
  ~Threads() override {
    for (auto& thread : threads_) thread.join();
  }
  int threads() const override { return 4; }
  void submit(std::function<void()> job) override { threads_.emplace_back(std::move(job)); }
  std::size_t started() const { return threads_.size(); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace troupe
