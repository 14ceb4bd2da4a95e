// Nodes inside a service: start and stop, sessions, clusters in one process, misuse.
#include <gtest/gtest.h>
#include <boost/asio.hpp>
#include <troupe/actors/embed/versions.hpp>
#include <troupe/ops/builder/math.hpp>
#include <troupe/ops/builder/variable.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

namespace troupe::embed {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::use_awaitable;

bool full() { return std::getenv("TROUPE_FULL") != nullptr; }

/// Names of this process's threads, the calling one included.
std::multiset<std::string> threads() {
  std::multiset<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    names.insert(name);
  }
  return names;
}

/// y = 2 x + w, with w on a device of choice; "add" adds the feed to w.
wire::GraphDef small_graph(const std::string& device = "") {
  build::Builder b;
  const build::Out x = b.placeholder(DType::f32, build::dims({}), "x");
  {
    const auto scope = b.device(device);
    const build::Variable w = build::variable(b, "w", build::zeros({}));
    build::add(x * 2.0f, w, "y");
  }
  b.initializer("init");
  auto graph = b.graph();
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

// Here, not where they are awaited: g++ 12 refuses lists in braces beside co_await.
auto init(const Session& session) { return session.async_run({}, {}, {"init"}, use_awaitable); }
auto fetch(const Session& session, const std::string& name) { return session.async_run({}, {name}, {}, use_awaitable); }
auto y_at(const Session& session, Tensor x) { return session.async_run({{"x:0", std::move(x)}}, {"y:0"}, {}, use_awaitable); }

template <class F>
void run(asio::io_context& io, F f) {
  std::exception_ptr failure;
  asio::co_spawn(io, f, [&](std::exception_ptr e) { failure = e; });
  io.run();
  if (failure) std::rethrow_exception(failure);
}

TEST(Node, RunsStepsOnTheServicesThreadAlone) {
  const auto before = threads();
  asio::io_context io(1);
  Stage stage(io);
  Node node(stage, {});
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    auto session = (co_await async_open_session(node, small_graph(), use_awaitable)).value();
    EXPECT_TRUE((co_await init(session)).ok());
    Variable w(session, "w");
    EXPECT_TRUE((co_await w.async_assign(Tensor::scalar(1.0f), use_awaitable)).ok());
    EXPECT_TRUE((co_await w.async_update(Tensor::scalar(0.5f), use_awaitable)).ok());
    EXPECT_EQ((co_await w.async_read(use_awaitable)).value().item<float>(), 1.5f);
    const auto y = co_await y_at(session, Tensor::scalar(3.0f));
    EXPECT_EQ(y.value().at(0).item<float>(), 7.5f);
    EXPECT_EQ(threads(), before);
    EXPECT_TRUE((co_await session.async_close(use_awaitable)).ok());
    EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
  });
  EXPECT_EQ(threads(), before);
}

TEST(Node, TellsTheVersionsOfAVariable) {
  asio::io_context io(1);
  Stage stage(io);
  Node node(stage, {});
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    auto session = (co_await async_open_session(node, small_graph(), use_awaitable)).value();
    Variable w(session, "w");
    auto versions = (co_await async_subscribe(w, use_awaitable)).value();
    std::vector<float> seen;
    asio::co_spawn(
        io,
        [&, versions]() -> asio::awaitable<void> {
          std::uint64_t last = 0;
          while (seen.empty() || seen.back() != 3.0f) {
            const auto version = (co_await versions.async_next(use_awaitable)).value();
            EXPECT_GT(version.number, last);
            last = version.number;
            seen.push_back(version.value.item<float>());
          }
        },
        asio::detached);
    EXPECT_TRUE((co_await init(session)).ok());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE((co_await w.async_update(Tensor::scalar(1.0f), use_awaitable)).ok());
    while (seen.empty() || seen.back() != 3.0f) co_await asio::post(use_awaitable);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    asio::cancellation_signal signal;
    Status waited;
    versions.async_next(asio::bind_cancellation_slot(signal.slot(), [&](const auto& next) { waited = next.status(); }));
    co_await asio::post(use_awaitable);
    EXPECT_TRUE(waited.ok());
    signal.emit(asio::cancellation_type::terminal);
    co_await asio::post(use_awaitable);
    EXPECT_EQ(waited.code(), Code::kCancelled);
    EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
  });
}

TEST(Node, SaysWhatIsMisused) {
  asio::io_context io(1);
  Stage stage(io);
  Node node(stage, {}), twin(stage, {});
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_EQ((co_await async_open_session(node, small_graph(), use_awaitable)).status().code(), Code::kFailedPrecondition);
    EXPECT_EQ((co_await node.async_stop(0ms, use_awaitable)).code(), Code::kFailedPrecondition);
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    EXPECT_EQ((co_await node.async_start(use_awaitable)).code(), Code::kFailedPrecondition);
    EXPECT_EQ((co_await twin.async_start(use_awaitable)).code(), Code::kAlreadyExists);
    auto session = (co_await async_open_session(node, small_graph(), use_awaitable)).value();
    const auto unread = co_await Variable(session, "w").async_read(use_awaitable);
    EXPECT_EQ(unread.status().code(), Code::kFailedPrecondition) << unread.status();
    EXPECT_EQ((co_await Variable(session, "v").async_read(use_awaitable)).status().code(), Code::kNotFound);
    const auto no_feed = co_await fetch(session, "y:0");
    EXPECT_EQ(no_feed.status().code(), Code::kInvalidArgument) << no_feed.status();
    const auto wrong_type = co_await y_at(session, Tensor::scalar(1));
    EXPECT_FALSE(wrong_type.ok());
    const auto unknown = co_await fetch(session, "z:0");
    EXPECT_FALSE(unknown.ok());
    EXPECT_FALSE((co_await fetch(Session(), "z:0")).ok());
    EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
    const auto stopped = co_await init(session);
    EXPECT_EQ(stopped.status().code(), Code::kFailedPrecondition) << stopped.status();
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    const auto forgotten = co_await init(session);
    EXPECT_FALSE(forgotten.ok());
    EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
  });
}

TEST(Node, SaysWhatIsWrongWithItsAddress) {
  asio::io_context io(1);
  Stage stage(io);
  NodeSetup setup;
  setup.listen = {"localhost:0"};
  Node node(stage, setup);
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    NodeSetup taken;
    taken.task = {"other", 0};
    taken.listen = {fmt::format("localhost:{}", node.port())};
    Node second(stage, taken);
    const Status status = co_await second.async_start(use_awaitable);
    EXPECT_EQ(status.code(), Code::kUnavailable) << status;
    EXPECT_FALSE(second.running());
    const std::array wrong{"localhost", "localhost:x", "localhost:99999", ""};
    for (const char* address : wrong) {
      taken.listen = {address};
      Node nowhere(stage, taken);
      const Status refused = co_await nowhere.async_start(use_awaitable);
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << address << ": " << refused;
    }
    EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
    EXPECT_EQ((co_await node.async_stop(0ms, use_awaitable)).code(), Code::kFailedPrecondition);
  });
}

/// One of them listens, which takes the one thread that a process has for gRPC; the others take none.
TEST(Node, AClusterOfAHundredFitsOnOneStage) {
  asio::io_context io(1);
  Stage stage(io);
  const Cluster cluster = local_cluster({{"ps", 10}, {"worker", 90}});
  std::vector<std::unique_ptr<Node>> nodes;
  for (const auto& [job, tasks] : cluster.jobs)
    for (const auto& [index, address] : tasks) {
      NodeSetup setup;
      setup.task = {job, index};
      setup.cluster = cluster;
      if (job == "worker" && index == 89) setup.listen = {"localhost:0"};
      nodes.push_back(std::make_unique<Node>(stage, setup));
    }
  run(io, [&]() -> asio::awaitable<void> {
    for (auto& node : nodes) EXPECT_TRUE((co_await node->async_start(use_awaitable)).ok());
    EXPECT_EQ(threads().count("troupe-grpc"), 1u);
    auto session = (co_await async_open_session(stage, nodes.back()->target(), small_graph("/job:ps/task:3"), use_awaitable)).value();
    EXPECT_TRUE((co_await init(session)).ok());
    EXPECT_TRUE((co_await Variable(session, "w").async_update(Tensor::scalar(4.0f), use_awaitable)).ok());
    auto other = (co_await async_open_session(*nodes[50], small_graph("/job:ps/task:3"), use_awaitable)).value();
    const auto y = co_await y_at(other, Tensor::scalar(3.0f));
    EXPECT_EQ(y.value().at(0).item<float>(), 10.0f);
    const auto now = threads();
    EXPECT_EQ(now.count("troupe-grpc"), 1u);
    EXPECT_EQ(now.count("troupe-compute") + now.count("troupe-io"), 0u);
    EXPECT_TRUE((co_await nodes[3]->async_stop(0ms, use_awaitable)).ok());  // ps 3
    const auto lost = co_await y_at(other, Tensor::scalar(3.0f));
    EXPECT_EQ(lost.status().code(), Code::kUnavailable) << lost.status();
    for (auto& node : nodes) {
      if (!node->running()) continue;
      EXPECT_TRUE((co_await node->async_stop(0ms, use_awaitable)).ok());
    }
  });
}

TEST(Node, ListensAndIsReachedByTheSameClientType) {
  asio::io_context io(1);
  Stage stage(io);
  NodeSetup setup;
  setup.listen = {"localhost:0"};
  Node first(stage, setup);
  setup.task = {"other", 0};
  Node second(stage, setup);
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_TRUE((co_await first.async_start(use_awaitable)).ok());
    EXPECT_TRUE((co_await second.async_start(use_awaitable)).ok());
    EXPECT_EQ(threads().count("troupe-grpc"), 1);
    const std::array both{&first, &second};
    for (Node* node : both) {
      auto session = (co_await async_open_session(stage, node->target(), small_graph(), use_awaitable)).value();
      EXPECT_TRUE((co_await init(session)).ok());
      EXPECT_TRUE((co_await Variable(session, "w").async_update(Tensor::scalar(4.0f), use_awaitable)).ok());
      auto near = (co_await async_open_session(*node, small_graph(), use_awaitable)).value();
      const auto y = co_await y_at(near, Tensor::scalar(3.0f));
      EXPECT_EQ(y.value().at(0).item<float>(), 10.0f);
    }
    EXPECT_TRUE((co_await first.async_stop(10ms, use_awaitable)).ok());
    EXPECT_EQ(first.port(), 0);
    EXPECT_TRUE((co_await second.async_stop(10ms, use_awaitable)).ok());
  });
}

TEST(Node, StartsAndStopsManyTimes) {
  const auto before = threads();
  const int rounds = full() ? 1000 : 20;
  asio::io_context io(1);
  Stage stage(io);
  NodeSetup silent, listening;
  listening.listen = {"localhost:0"};
  Node nodes[] = {Node(stage, silent), Node(stage, listening)};
  run(io, [&]() -> asio::awaitable<void> {
    for (int i = 0; i < rounds; ++i) {
      Node& node = nodes[i % 10 == 0];
      const Status started = co_await node.async_start(use_awaitable);
      if (!started.ok()) co_return ADD_FAILURE() << started;
      auto session = (co_await async_open_session(node, small_graph(), use_awaitable)).value();
      EXPECT_TRUE((co_await init(session)).ok());
      EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
    }
  });
  EXPECT_EQ(threads().count("troupe-grpc"), before.count("troupe-grpc"));
}

TEST(Node, OperationsAreCancelledAtAnyMoment) {
  const int rounds = full() ? 10000 : 200;
  asio::io_context io(1);
  Stage stage(io);
  Node node(stage, {});
  int begun = 0, ended = 0, cancelled_ones = 0;
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    auto session = (co_await async_open_session(node, small_graph(), use_awaitable)).value();
    EXPECT_TRUE((co_await init(session)).ok());
    std::mt19937 random(7);
    for (int i = 0; i < rounds; ++i) {
      asio::cancellation_signal signal;
      ++begun;
      int calls = 0;
      session.async_run({{"x:0", Tensor::scalar(1.0f)}}, {"y:0"}, {}, asio::bind_cancellation_slot(signal.slot(), [&](const auto& result) {
                          ++calls;
                          ++ended;
                          if (result.status().code() == Code::kCancelled) ++cancelled_ones;
                        }));
      for (auto turns = random() % 3; turns > 0; --turns) co_await asio::post(use_awaitable);
      signal.emit(asio::cancellation_type::terminal);
      while (calls == 0) co_await asio::post(use_awaitable);
      co_await asio::post(use_awaitable);
      EXPECT_EQ(calls, 1);
    }
    const auto y = co_await y_at(session, Tensor::scalar(3.0f));
    EXPECT_EQ(y.value().at(0).item<float>(), 6.0f);
    EXPECT_TRUE((co_await node.async_stop(0ms, use_awaitable)).ok());
  });
  EXPECT_EQ(begun, ended);
}

TEST(Node, WaitingStepsAreAnsweredWhenItStops) {
  build::Builder b;
  const build::Op queue = b.op("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::f32}}}, "queue");
  b.op("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::f32}}}, "take");
  const auto graph = b.graph();
  ASSERT_TRUE(graph.ok()) << graph.status();
  asio::io_context io(1);
  Stage stage(io);
  Node node(stage, {});
  Status answer;
  run(io, [&]() -> asio::awaitable<void> {
    EXPECT_TRUE((co_await node.async_start(use_awaitable)).ok());
    auto session = (co_await async_open_session(node, *graph, use_awaitable)).value();
    session.async_run({}, {"take:0"}, {}, [&](const auto& result) { answer = result.status(); });
    EXPECT_TRUE((co_await node.async_stop(5ms, use_awaitable)).ok());
    EXPECT_EQ(answer.code(), Code::kUnavailable) << answer;
  });
}

TEST(Node, OutlivesItsExecutor) {
  auto io = std::make_unique<asio::io_context>(1);
  Stage stage(*io);
  NodeSetup setup;
  setup.listen = {"localhost:0"};
  Node node(stage, setup);
  auto started = node.async_start(asio::use_future);
  while (started.wait_for(0s) != std::future_status::ready) io->run_one_for(1ms);
  ASSERT_TRUE(started.get().ok());
  io.reset();
  EXPECT_FALSE(node.running());
  EXPECT_EQ(node.async_start(asio::use_future).get().code(), Code::kFailedPrecondition);
}

/// Turns a context for a while that nobody knows beforehand, then destroys it with whatever is under way.
TEST(Node, TheExecutorEndsAtAnyMoment) {
  const auto before = threads();
  const int rounds = full() ? 300 : 30;
  std::mt19937 random(11);
  for (int i = 0; i < rounds; ++i) {
    auto io = std::make_unique<asio::io_context>(1);
    Stage stage(*io);
    NodeSetup setup;
    setup.listen = {"localhost:0"};
    Node node(stage, setup);
    asio::co_spawn(
        *io,
        [&]() -> asio::awaitable<void> {
          if (!(co_await node.async_start(use_awaitable)).ok()) co_return;
          auto session = co_await async_open_session(stage, node.target(), small_graph(), use_awaitable);
          if (!session.ok()) co_return;
          (co_await init(*session)).IgnoreError();
          (co_await node.async_stop(std::chrono::milliseconds(i % 3), use_awaitable)).IgnoreError();
        },
        asio::detached);
    for (auto turns = random() % 60; turns > 0; --turns) io->run_one_for(2ms);
    io.reset();
    EXPECT_FALSE(node.running());
  }
  EXPECT_EQ(threads().count("troupe-grpc"), before.count("troupe-grpc"));
}

}  // namespace
}  // namespace troupe::embed
