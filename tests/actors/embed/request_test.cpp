// Actors on somebody's executor: where they run, and requests as Asio operations.
#include <gtest/gtest.h>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <caf/all.hpp>
#include <troupe/actors/embed/request.hpp>

#include <set>
#include <thread>

namespace troupe::embed::test {

struct Double {
  int value;
};
struct Never {};
struct Explode {};
struct Refuse {};

}  // namespace troupe::embed::test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::embed::test::Double)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::embed::test::Never)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::embed::test::Explode)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::embed::test::Refuse)

namespace troupe::embed::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::experimental::awaitable_operators::operator||;

using Calculator = caf::typed_actor<caf::replies_to<Double>::with<int>, caf::replies_to<Never>::with<int>, caf::replies_to<Explode>::with<int>,
                                    caf::replies_to<Refuse>::with<int>>;

struct CalculatorState {
  std::vector<caf::typed_response_promise<int>> kept;
};

Calculator::behavior_type calculator(Calculator::stateful_pointer<CalculatorState> self) {
  return {
      [](const Double& message) { return message.value * 2; },
      [=](const Never&) -> caf::result<int> {
        auto promise = self->make_response_promise<int>();
        self->state.kept.push_back(promise);
        return promise;
      },
      [](const Explode&) -> int { throw std::runtime_error("boom"); },
      [](const Refuse&) -> caf::result<int> { return to_caf(invalid("Not this")); },
  };
}

/// Runs a coroutine on a context of one thread to its end.
template <class F>
void run(asio::io_context& io, F f) {
  std::exception_ptr failure;
  asio::co_spawn(io, f, [&](std::exception_ptr e) { failure = e; });
  io.run();
  if (failure) std::rethrow_exception(failure);
}

TEST(Request, IsAwaited) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  run(io, [&]() -> asio::awaitable<void> {
    const auto reply = co_await async_request<int>(actor, Double{21}, asio::use_awaitable);
    EXPECT_EQ(reply.value(), 42);
    const auto refused = co_await async_request<int>(actor, Refuse{}, asio::use_awaitable);
    EXPECT_EQ(refused.status(), invalid("Not this"));
  });
}

TEST(Request, WorksWithFuturesCallbacksAndDetached) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  auto future = async_request<int>(actor, Double{1}, asio::use_future);
  StatusOr<int> called;
  async_request<int>(actor, Double{2}, [&](StatusOr<int> reply) { called = std::move(reply); });
  async_request<int>(actor, Double{3}, asio::detached);
  EXPECT_EQ(called.status().code(), Code::kUnknown);  // nothing completes inside of the call
  io.run();
  EXPECT_EQ(future.get().value(), 2);
  EXPECT_EQ(called.value(), 4);
}

TEST(Request, DeliversOnTheHandlersExecutor) {
  asio::io_context io(1), other(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  bool called = false;
  async_request<int>(actor, Double{2}, asio::bind_executor(other, [&](StatusOr<int>) { called = true; }));
  io.run();
  EXPECT_FALSE(called);
  other.run();
  EXPECT_TRUE(called);
}

TEST(Request, KeepsTheContextRunningUntilAnswered) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  asio::cancellation_signal signal;
  StatusOr<int> reply;
  async_request<int>(actor, Never{}, asio::bind_cancellation_slot(signal.slot(), [&](StatusOr<int> r) { reply = std::move(r); }));
  io.run_for(20ms);
  EXPECT_FALSE(io.stopped());
  signal.emit(asio::cancellation_type::terminal);
  io.run();
  EXPECT_EQ(reply.status().code(), Code::kCancelled);
}

TEST(Request, HonoursTimeouts) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  run(io, [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(io, 5ms);
    const auto first = co_await (async_request<int>(actor, Never{}, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1);
    EXPECT_EQ((co_await async_request<int>(actor, Double{4}, asio::use_awaitable)).value(), 8);
  });
}

TEST(Request, SaysWhatIsWrongWithTheActor) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  caf::actor_system_config config;
  caf::actor_system elsewhere(config);
  auto stranger = elsewhere.spawn(calculator);
  run(io, [&]() -> asio::awaitable<void> {
    Status waited;
    async_request<int>(actor, Never{}, [&](StatusOr<int> reply) { waited = reply.status(); });
    const auto exploded = co_await async_request<int>(actor, Explode{}, asio::use_awaitable);
    EXPECT_EQ(exploded.status().code(), Code::kInternal) << exploded.status();
    const auto dead = co_await async_request<int>(actor, Double{1}, asio::use_awaitable);
    EXPECT_EQ(dead.status().code(), Code::kUnavailable);
    EXPECT_EQ(waited.code(), Code::kUnavailable);  // who waited for it has heard of its end
    const auto away = co_await async_request<int>(stranger, Double{1}, asio::use_awaitable);
    EXPECT_EQ(away.status().code(), Code::kFailedPrecondition);
    const auto none = co_await async_request<int>(Calculator(), Double{1}, asio::use_awaitable);
    EXPECT_EQ(none.status().code(), Code::kUnavailable);
    const auto wrong = co_await async_request<std::string>(actor, Double{1}, asio::use_awaitable);
    EXPECT_FALSE(wrong.ok());
  });
  caf::anon_send_exit(stranger, caf::exit_reason::user_shutdown);
}

TEST(Request, AnExceptionOfAHandlerLeavesTheActorsAlone) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  async_request<int>(actor, Double{1}, [](StatusOr<int>) { throw std::runtime_error("the service's own"); });
  EXPECT_THROW(io.run(), std::runtime_error);
  auto future = async_request<int>(actor, Double{5}, asio::use_future);
  io.restart();
  io.run();
  EXPECT_EQ(future.get().value(), 10);
}

TEST(Stage, RunsActorsOneAtATimeOnManyThreads) {
  asio::thread_pool pool(4);
  Stage stage(pool);
  struct State {
    int inside = 0, most = 0, turns = 0;
  } state;
  std::vector<caf::actor> actors;
  for (int i = 0; i < 8; ++i)
    actors.push_back(stage.system().spawn([&state]() -> caf::behavior {
      return {[&state](const Double& message) {
        state.most = std::max(state.most, ++state.inside);
        std::this_thread::yield();
        --state.inside;
        ++state.turns;
        return message.value;
      }};
    }));
  std::vector<std::future<StatusOr<int>>> replies;
  for (int i = 0; i < 400; ++i) replies.push_back(async_request<int>(actors[static_cast<std::size_t>(i) % 8], Double{i}, asio::use_future));
  for (int i = 0; i < 400; ++i) EXPECT_EQ(replies[static_cast<std::size_t>(i)].get().value(), i);
  pool.join();
  EXPECT_EQ(state.most, 1);
  EXPECT_EQ(state.turns, 400);
}

TEST(Stage, GivesActorsTime) {
  asio::io_context io(1);
  Stage stage(io);
  int ticks = 0;
  auto actor = stage.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->delayed_send(self, 2ms, Double{1});
    return {[&, self](const Double&) {
      if (++ticks < 5) self->delayed_send(self, 2ms, Double{1});
    }};
  });
  io.run();  // a message on its way in time is work
  EXPECT_EQ(ticks, 5);
}

TEST(Stage, LeavesTheThreadAsItWas) {
  asio::io_context io(1);
  Stage stage(io);
  auto actor = stage.system().spawn(calculator);
  const volatile float tiny = 1e-39f;
  async_request<int>(actor, Double{1}, [&](StatusOr<int>) { EXPECT_NE(tiny * 0.5f, 0.0f); });
  io.run();
  EXPECT_NE(tiny * 0.5f, 0.0f);
}

TEST(Stage, OutlivesItsExecutor) {
  auto io = std::make_unique<asio::io_context>(1);
  Stage stage(*io);
  auto actor = stage.system().spawn(calculator);
  int called = 0;
  async_request<int>(actor, Never{}, [&](StatusOr<int>) { ++called; });
  io->poll();
  io.reset();
  EXPECT_EQ(called, 0);
  Status late;
  async_request<int>(actor, Double{1}, [&](StatusOr<int> reply) { late = reply.status(); });
  EXPECT_EQ(late.code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace troupe::embed::test
