// The loop's posts, timers, spin and end.
#include <gtest/gtest.h>
#include <caf/all.hpp>
#include <troupe/messaging/loop.hpp>

#include <future>

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Config : caf::actor_system_config {
  Config() { load<LoopScheduler>(); }
};

class LoopTest : public testing::TestWithParam<int> {
 protected:
  Config config;
  caf::actor_system system{config};
  Loop loop{LoopScheduler::of(system), Loop::Options{GetParam(), {}}};
};

TEST_P(LoopTest, PostsRunInOrderOnTheLoop) {
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.start();
  std::promise<bool> done;
  loop.post([&] {
    loop.post([&] { done.set_value(loop.on_loop_thread() && loop.scheduler().running_inline()); });
    order.push_back(3);
  });
  EXPECT_TRUE(done.get_future().get());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_FALSE(loop.on_loop_thread());
}

TEST_P(LoopTest, ManyThreadsPost) {
  loop.start();
  int count = 0;  // touched on the loop only
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) loop.post([&] { ++count; });
    });
  for (auto& thread : threads) thread.join();
  std::promise<int> total;
  loop.post([&] { total.set_value(count); });
  EXPECT_EQ(total.get_future().get(), 4000);
}

TEST_P(LoopTest, TimersComeInTimeAndInOrder) {
  loop.start();
  std::vector<int> order;
  std::promise<void> done;
  const auto began = Loop::Clock::now();
  loop.post_after(60ms, [&] { order.push_back(2), done.set_value(); });
  loop.post_after(20ms, [&] { order.push_back(1); });
  loop.post_after(0ms, [&] { order.push_back(0); });
  done.get_future().get();
  EXPECT_GE(Loop::Clock::now() - began, 60ms);
  EXPECT_LT(Loop::Clock::now() - began, 5s);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_P(LoopTest, WhatIsPostedIsRunEvenAtTheEnd) {
  loop.start();
  std::atomic<int> ran{0};
  bool dropped = true;
  loop.post_after(1h, [&] { dropped = false; });
  for (int i = 0; i < 100; ++i) loop.post([&] { ++ran; });
  loop.stop();
  EXPECT_EQ(ran, 100);
  loop.post([&] { ++ran; });
  EXPECT_EQ(ran, 101);
  EXPECT_TRUE(dropped);
  EXPECT_FALSE(Loop::Operation(loop));
}

TEST_P(LoopTest, StopsWithoutAStart) {
  int ran = 0;
  loop.post([&] { ++ran; });
  loop.stop();
  EXPECT_EQ(ran, 1);
}

INSTANTIATE_TEST_SUITE_P(Spin, LoopTest, testing::Values(0, 200));

TEST(Spin, GivesUpWhenItNeverFindsAnythingAndReturnsWhenItWouldHave) {
  Spin spin(100us);
  const auto now = Spin::Clock::now();
  EXPECT_TRUE(spin.pays(now));
  for (int i = 0; i < 8; ++i) spin.begin(), spin.miss(now), spin.parked(10ms);
  EXPECT_FALSE(spin.pays(now + 1s));
  spin.parked(50us);
  EXPECT_TRUE(spin.pays(now + 1s));
  EXPECT_FALSE(Spin(0us).enabled());
}

}  // namespace
}  // namespace troupe
