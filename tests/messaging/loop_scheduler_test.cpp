// The scheduler without threads: inline, from other threads, with hosts, with timers, and at the end.
#include <gtest/gtest.h>
#include <caf/all.hpp>
#include <troupe/messaging/loop.hpp>
#include <troupe/messaging/loop_scheduler.hpp>
#include <troupe/messaging/reply_port.hpp>

#include <future>
#include <thread>

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Config : caf::actor_system_config {
  Config() { load<LoopScheduler>(); }
};

caf::behavior doubler() {
  return {[](int x) { return 2 * x; }};
}

caf::behavior forwarder(caf::event_based_actor* self, const caf::actor& next) {
  return {[=](int x) { return self->delegate(next, x); }};
}

struct Stage : testing::Test {
  Config config;
  caf::actor_system system{config};
  LoopScheduler& scheduler = LoopScheduler::of(system);
  ReplyPort port{system};

  StatusOr<int> ask(const caf::actor& dst, int x) {
    auto promise = std::make_shared<std::promise<StatusOr<int>>>();
    auto answer = promise->get_future();
    scheduler.run_inline([&] {
      port.ask<int>(
          dst, [promise](StatusOr<int> r) { promise->set_value(std::move(r)); }, x);
    });
    return answer.get();
  }
};

TEST_F(Stage, RunInlineFinishesTheWholeChainOnThisThread) {
  auto chain = system.spawn(doubler);
  for (int i = 0; i < 20; ++i) chain = system.spawn(forwarder, chain);
  int answer = 0;
  std::thread::id where;
  scheduler.run_inline([&] {
    port.ask<int>(
        chain, [&](StatusOr<int> r) { answer = *r, where = std::this_thread::get_id(); }, 21);
    EXPECT_EQ(answer, 0);  // nothing runs before f has returned
    EXPECT_TRUE(scheduler.running_inline());
  });
  EXPECT_EQ(answer, 42);
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_FALSE(scheduler.running_inline());
}

TEST_F(Stage, WithoutAHostWhoBringsTheWorkDoesIt) {
  caf::scoped_actor self(system);
  auto actor = system.spawn(doubler);
  int answer = 0;
  self->request(actor, caf::infinite, 4).receive([&](int x) { answer = x; }, [](caf::error&) { FAIL(); });
  EXPECT_EQ(answer, 8);
}

/// A host that is woken, and comes when the test says so.
struct AbsentHost final : LoopHost {
  void wake() override { ++woken; }
  void arm(caf::actor_clock::time_point) override {}
  int woken = 0;
};

TEST_F(Stage, WhatIsBroughtRunsHereAndWhatItMakesReadyOnAHost) {
  AbsentHost host;
  scheduler.attach(host);
  int first = 0, second = 0;
  auto later = system.spawn([&]() -> caf::behavior { return {[&](int x) { second += x; }}; });
  auto brought = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self](int x) {
      first += x;
      self->send(later, x);
    }};
  });
  scheduler.pump();  // actors that were spawned here have had their first turn
  host.woken = 0;
  scheduler.bring([&] { caf::anon_send(brought, 1); });
  EXPECT_EQ(first, 0);
  EXPECT_EQ(host.woken, 1);
  scheduler.pump();
  EXPECT_EQ(first, 1);
  scheduler.run_anywhere();
  host.woken = 0;
  scheduler.bring([&] { caf::anon_send(brought, 1); });
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(host.woken, 1);
  scheduler.pump();
  EXPECT_EQ(second, 2);
  scheduler.detach(host);
}

TEST_F(Stage, TheRingGrows) {
  int sum = 0;
  scheduler.run_inline([&] {
    for (int i = 0; i < 3000; ++i)
      port.ask<int>(
          system.spawn(doubler), [&](StatusOr<int> r) { sum += *r; }, 1);
  });
  EXPECT_EQ(sum, 6000);
}

TEST_F(Stage, AnErrorComesBackAsTheStatusThatWasSent) {
  auto failing = system.spawn(
      []() -> caf::behavior { return {[](int) -> caf::result<int> { return to_caf(as_possibly_restarted(aborted("was {} here", 1))); }}; });
  auto answer = ask(failing, 1);
  EXPECT_EQ(answer.status(), as_possibly_restarted(aborted("was 1 here")));
}

TEST_F(Stage, ADeadOrMissingReceiverIsUnavailable) {
  auto actor = system.spawn(doubler);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  EXPECT_EQ(ask(actor, 1).status().code(), Code::kUnavailable);
  EXPECT_EQ(ask(caf::actor(), 1).status().code(), Code::kUnavailable);
}

TEST_F(Stage, AnUnexpectedReplyIsInternal) {
  auto actor = system.spawn([]() -> caf::behavior { return {[](int) { return std::string("text"); }}; });
  EXPECT_EQ(ask(actor, 1).status().code(), Code::kInternal);
}

TEST_F(Stage, ALateReplyFindsItsTaker) {
  std::vector<caf::response_promise> promises;
  auto slow = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&promises, self](int) {
              promises.push_back(self->make_response_promise());
              return promises.back();
            },
            [&promises](bool) {
              for (std::size_t i = 0; i < promises.size(); ++i) promises[i].deliver(static_cast<int>(i));
            }};
  });
  std::vector<int> answers(3, -1);
  for (int i = 0; i < 3; ++i)
    port.ask<int>(
        slow, [&answers, i](StatusOr<int> r) { answers[static_cast<std::size_t>(i)] = *r; }, 0);
  EXPECT_EQ(answers, (std::vector<int>{-1, -1, -1}));
  caf::anon_send(slow, true);
  EXPECT_EQ(answers, (std::vector<int>{0, 1, 2}));
  promises.clear();
}

TEST_F(Stage, WithALoopOtherThreadsOnlyHandOver) {
  Loop loop(scheduler);
  loop.start();
  auto actor = system.spawn([]() -> caf::behavior { return {[](int x) { return x + 1; }}; });
  std::promise<std::thread::id> where;
  port.ask<int>(
      actor, [&](StatusOr<int>) { where.set_value(std::this_thread::get_id()); }, 1);
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
  loop.stop();
}

TEST_F(Stage, ManyThreadsAndLoopsShareActors) {
  Loop first(scheduler), second(scheduler);
  first.start();
  second.start();
  struct Count {
    int value = 0;
  };
  auto counter = system.spawn([](caf::stateful_actor<Count>* self) -> caf::behavior { return {[self](int x) { return self->state.value += x; }}; });
  std::vector<caf::actor> chains;
  for (int i = 0; i < 4; ++i) chains.push_back(system.spawn(forwarder, counter));
  constexpr int per_thread = 500;
  std::atomic<int> answers{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < per_thread; ++i) {
        const auto send = [&] {
          port.ask<int>(
              chains[static_cast<std::size_t>(t)], [&](StatusOr<int> r) { answers += r.ok(); }, 1);
        };
        if (t % 2 == 0) scheduler.run_inline(send);
        else send();
      }
    });
  for (auto& thread : threads) thread.join();
  while (answers < 4 * per_thread) std::this_thread::yield();
  auto total = ask(counter, 0);
  EXPECT_EQ(total.value(), 4 * per_thread);
  first.stop();
  second.stop();
}

TEST_F(Stage, HostsComeAndGoWhileThreadsSend) {
  std::atomic<bool> stop{false};
  std::atomic<int> asked{0}, answered{0};
  auto actor = system.spawn(doubler);
  std::thread sender([&] {
    while (!stop) {
      if (asked - answered > 100) {
        std::this_thread::yield();
        continue;
      }
      ++asked;
      port.ask<int>(
          actor, [&](StatusOr<int>) { ++answered; }, 1);
      if (asked % 16 == 0) caf::delayed_anon_send(actor, 1ms, 5);
    }
  });
  for (int i = 0; i < 20; ++i) {
    Loop loop(scheduler);
    loop.start();
    std::this_thread::sleep_for(2ms);
    loop.stop();
  }
  stop = true;
  sender.join();
  EXPECT_GT(asked, 0);
  EXPECT_EQ(answered, asked);
}

TEST_F(Stage, AnActorThatNeverRestsStarvesNobody) {
  Loop loop(scheduler);
  loop.start();
  auto busy = system.spawn([](caf::event_based_actor* self) -> caf::behavior { return {[self](int x) { self->send(self, x); }}; });
  caf::anon_send(busy, 1);
  std::promise<void> posted;
  loop.post([&] { posted.set_value(); });
  EXPECT_EQ(posted.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(ask(system.spawn(doubler), 4).value(), 8);
  caf::anon_send_exit(busy, caf::exit_reason::user_shutdown);
  loop.stop();
}

TEST_F(Stage, DelayedMessagesAndTimeoutsCome) {
  Loop loop(scheduler);
  loop.start();
  std::promise<void> ticked;
  auto sleeper = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->delayed_send(self, 20ms, 1);
    return {[&ticked](int) { ticked.set_value(); }};
  });
  EXPECT_EQ(ticked.get_future().wait_for(5s), std::future_status::ready);
  std::promise<caf::error> timed_out;
  auto silent = system.spawn([](caf::event_based_actor* self) -> caf::behavior { return {[self](int) { return self->make_response_promise(); }}; });
  system.spawn(
      [&, silent](caf::event_based_actor* self) { self->request(silent, 20ms, 1).then([](int) {}, [&](caf::error& e) { timed_out.set_value(e); }); });
  auto error = timed_out.get_future();
  ASSERT_EQ(error.wait_for(5s), std::future_status::ready);
  EXPECT_EQ(from_caf(error.get()).code(), Code::kDeadlineExceeded);
  loop.stop();
}

TEST_F(Stage, ATimerSetBeforeTheLoopStartsIsNotForgotten) {
  std::promise<void> ticked;
  auto sleeper = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->delayed_send(self, 5ms, 1);
    return {[&ticked](int) { ticked.set_value(); }};
  });
  Loop loop(scheduler);
  loop.start();
  EXPECT_EQ(ticked.get_future().wait_for(5s), std::future_status::ready);
}

TEST(LoopSchedulerEnd, TheSystemEndsAfterItsLoop) {
  Config config;
  caf::actor_system system{config};
  auto& scheduler = LoopScheduler::of(system);
  auto loop = std::make_unique<Loop>(scheduler);
  loop->start();
  std::vector<caf::actor> actors;
  for (int i = 0; i < 10; ++i) actors.push_back(system.spawn(doubler));
  loop.reset();
  for (auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  actors.clear();
  system.await_all_actors_done();
}

TEST(LoopSchedulerEnd, ThreadsGiveTheirUnitsBack) {
  Config config;
  caf::actor_system system{config};
  auto& scheduler = LoopScheduler::of(system);
  std::set<caf::execution_unit*> units;
  auto actor = system.spawn([&](caf::event_based_actor* self) -> caf::behavior { return {[&units, self](int) { units.insert(self->context()); }}; });
  for (int i = 0; i < 20; ++i) std::thread([&] { scheduler.run_inline([&] { caf::anon_send(actor, 1); }); }).join();
  EXPECT_LE(units.size(), 2u);
}

TEST(LoopSchedulerEnd, TwoSystemsOnOneThreadKeepApart) {
  Config a, b;
  caf::actor_system first{a}, second{b};
  ReplyPort to_first{first}, to_second{second};
  auto inner = second.spawn(doubler);
  auto outer = first.spawn(doubler);
  int answer = 0;
  LoopScheduler::of(first).run_inline([&] {
    to_first.ask<int>(
        outer,
        [&](StatusOr<int> x) {
          LoopScheduler::of(second).run_inline([&] {
            to_second.ask<int>(
                inner, [&](StatusOr<int> y) { answer = *y; }, *x);
          });
          EXPECT_EQ(answer, 12);
        },
        3);
  });
  EXPECT_EQ(answer, 12);
}

}  // namespace
}  // namespace troupe
