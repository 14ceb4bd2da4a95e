// Kernels in parts: every element once, whoever takes it; failures come back; parts are not split again.
#include "threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace troupe {
namespace {

constexpr double heavy_ns = 1e6;

/// Nobody ever comes to help.
class Absent final : public Helpers {
 public:
  int threads() const override { return 4; }
  void submit(std::function<void()> job) override { jobs.push_back(std::move(job)); }
  std::vector<std::function<void()>> jobs;
};

std::vector<int> visits_of(std::int64_t count, double ns_each) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
  in_parallel(count, ns_each, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  return {visits.begin(), visits.end()};
}

TEST(Parallel, WithoutHelpersAllIsDoneHere) { EXPECT_EQ(visits_of(10, heavy_ns), std::vector<int>(10, 1)); }

TEST(Parallel, NothingIsNothing) { EXPECT_EQ(visits_of(0, heavy_ns), std::vector<int>()); }

TEST(Parallel, EveryElementOnce) {
  Threads threads;
  const HelpersScope scope(&threads);
  EXPECT_EQ(visits_of(1001, heavy_ns), std::vector<int>(1001, 1));
  EXPECT_EQ(threads.started(), 3u);
}

TEST(Parallel, LittleWorkIsNotSplit) {
  Threads threads;
  const HelpersScope scope(&threads);
  EXPECT_EQ(visits_of(1000, 1), std::vector<int>(1000, 1));
  EXPECT_EQ(threads.started(), 0u);
}

TEST(Parallel, DoesNotWaitForHelpersThatNeverCome) {
  Absent absent;
  {
    const HelpersScope scope(&absent);
    EXPECT_EQ(visits_of(8, heavy_ns), std::vector<int>(8, 1));
  }
  // Who comes late finds nothing left to do, not even the function.
  for (auto& job : absent.jobs) job();
}

TEST(Parallel, PartsAreNotSplit) {
  Threads threads;
  const HelpersScope scope(&threads);
  std::atomic<int> inner{0};
  in_parallel(4, heavy_ns, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) in_parallel(100, heavy_ns, [&](std::int64_t, std::int64_t) { ++inner; });
  });
  EXPECT_EQ(inner, 4);
}

TEST(Parallel, FinePartsAreMoreThanThreadsAndCountNotHelpers) {
  Absent absent;
  const HelpersScope scope(&absent);
  int parts = 0;
  in_parallel(1000, heavy_ns, Cut::fine, [&](std::int64_t first, std::int64_t last) {
    ++parts;
    EXPECT_NEAR(static_cast<double>(last - first), 1000.0 / 16, 1);
  });
  EXPECT_EQ(parts, 16);
  EXPECT_EQ(absent.jobs.size(), 3u);
}

TEST(Parallel, AFailureComesBack) {
  Threads threads;
  const HelpersScope scope(&threads);
  const auto fail = [](std::int64_t first, std::int64_t) {
    if (first > 0) throw std::runtime_error("no");
  };
  EXPECT_THROW(in_parallel(4, heavy_ns, fail), std::runtime_error);
}

}  // namespace
}  // namespace troupe
