// Server and client with each other: bytes, errors, cancellation, deadlines, ports.
#include <gtest/gtest.h>
#include <caf/all.hpp>
#include <troupe/messaging/grpc_client.hpp>
#include <troupe/messaging/grpc_server.hpp>
#include <troupe/messaging/loop.hpp>

#include <future>

#include "bytes.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

struct Config : caf::actor_system_config {
  Config() { load<LoopScheduler>(); }
};

enum Method { echo, hold, failing, drop };
const std::vector<std::string> paths = {"/test.Service/Echo", "/test.Service/Hold", "/other.Service/Fail", "/test.Service/Drop"};

class GrpcTest : public testing::Test {
 protected:
  ~GrpcTest() override {
    held.clear();
    server.shutdown(0ms);
    loop.stop();
  }
  void listen(std::vector<std::string> addresses = {"127.0.0.1:0", "[::1]:0"}) {
    ASSERT_TRUE(server.listen(addresses, &port).ok());
    loop.start();
  }
  std::string address(const std::string& host = "127.0.0.1") const { return fmt::format("{}:{}", host, port); }

  void on_call(std::shared_ptr<ServerCall> call) {
    switch (call->method) {
      case echo: return call->reply(std::move(call->request));
      case hold:
        call->on_cancelled = [this] { ++cancelled; };
        held.push_back(std::move(call));
        return arrived.set_value();
      case failing: return call->fail(failure);
      default: return;
    }
  }

  struct Pending {
    std::shared_ptr<ClientCall> call;
    std::future<StatusOr<grpc::ByteBuffer>> reply;
  };
  Pending start(Channel& channel, const std::string& path, const std::string& body, std::optional<std::chrono::milliseconds> deadline = {},
                bool wait_for_ready = true) {
    auto promise = std::make_shared<std::promise<StatusOr<grpc::ByteBuffer>>>();
    Pending pending{nullptr, promise->get_future()};
    pending.call = channel.call(path, in_one(body), deadline, wait_for_ready, [this, promise](StatusOr<grpc::ByteBuffer> r) {
      on_loop = loop.on_loop_thread();
      promise->set_value(std::move(r));
    });
    return pending;
  }
  StatusOr<std::string> call(Channel& channel, Method method, const std::string& body) {
    auto reply = start(channel, paths[method], body).reply.get();
    if (!reply.ok()) return reply.status();
    return flat(*reply);
  }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(10ms);
    return condition();
  }

  Config config;
  caf::actor_system system{config};
  Loop loop{LoopScheduler::of(system), Loop::Options{50, {}}};
  GrpcServer server{loop, paths, [this](std::shared_ptr<ServerCall> c) { on_call(std::move(c)); }};
  int port = 0;
  Status failure = not_found("nothing");
  std::vector<std::shared_ptr<ServerCall>> held;
  std::promise<void> arrived;
  std::atomic<int> cancelled{0};
  std::atomic<bool> on_loop{false};
};

TEST_F(GrpcTest, EchoesOnBothFamilies) {
  listen();
  ASSERT_GT(port, 0);
  for (const char* host : {"127.0.0.1", "[::1]", "localhost"}) {
    Channel channel(address(host), loop);
    EXPECT_EQ(call(channel, echo, "hello").value(), "hello") << host;
    EXPECT_EQ(call(channel, echo, "").value(), "");
    EXPECT_TRUE(on_loop);
  }
}

TEST_F(GrpcTest, BodiesBeyondGrpcsDefaultLimitPass) {
  listen();
  Channel channel(address(), loop);
  const std::string large(20 << 20, 'x');
  EXPECT_EQ(call(channel, echo, large).value(), large);
}

TEST_F(GrpcTest, ManyCallsAtOnce) {
  listen();
  Channel channel(address(), loop);
  std::vector<Pending> pending;
  for (int i = 0; i < 500; ++i) pending.push_back(start(channel, paths[echo], std::to_string(i)));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(flat(pending[static_cast<std::size_t>(i)].reply.get().value()), std::to_string(i));
}

TEST_F(GrpcTest, HeldCallsDoNotBlockOthers) {
  listen();
  Channel channel(address(), loop);
  std::vector<Pending> pending;
  for (int i = 0; i < 50; ++i) {
    arrived = {};
    pending.push_back(start(channel, paths[hold], "h"));
    arrived.get_future().get();
  }
  EXPECT_EQ(call(channel, echo, "through").value(), "through");
  std::thread elsewhere([&] {
    for (auto& call : held) call->reply(in_one("at last"));
  });
  for (auto& p : pending) EXPECT_EQ(flat(p.reply.get().value()), "at last");
  elsewhere.join();
  EXPECT_EQ(cancelled, 0);
}

TEST_F(GrpcTest, AnErrorKeepsCodeTextAndPayloads) {
  listen();
  Channel channel(address(), loop);
  failure = as_possibly_restarted(aborted("Session {} is not found.\n\twith ümlaut", "ab"));
  EXPECT_EQ(call(channel, failing, "").status(), failure);
}

TEST_F(GrpcTest, ANamedTargetIsAddedToTheText) {
  listen();
  Channel channel(address(), loop, "/job:ps/replica:0/task:0");
  failure = as_derived(aborted("say \"no\"\n"));
  const Status status = call(channel, failing, "").status();
  EXPECT_TRUE(is_derived(status));
  const std::string text = text_of(status);
  EXPECT_EQ(text.find("say \"no\"\n\nAdditional GRPC error information from remote target /job:ps/replica:0/task:0 while calling "
                      "/other.Service/Fail:\n:{\"created\":\"@"),
            0u)
      << text;
  const std::string end =
      fmt::format("\"description\":\"Error received from peer ipv4:127.0.0.1:{}\",\"grpc_message\":\"say \\\"no\\\"\\n\",\"grpc_status\":10}}", port);
  EXPECT_NE(text.find(end), std::string::npos) << text;
}

TEST_F(GrpcTest, ALongTextIsCutNotLost) {
  listen();
  Channel channel(address(), loop);
  failure = internal("{}", std::string(100000, 'm'));
  const Status status = call(channel, failing, "").status();
  EXPECT_EQ(status, internal("{} ... [truncated]", std::string(3072, 'm')));
}

TEST_F(GrpcTest, ADroppedCallIsAnswered) {
  listen();
  Channel channel(address(), loop);
  EXPECT_EQ(call(channel, drop, "").status().code(), Code::kInternal);
}

TEST_F(GrpcTest, OnlyTheFirstAnswerCounts) {
  listen();
  Channel channel(address(), loop);
  auto pending = start(channel, paths[hold], "");
  arrived.get_future().get();
  held.at(0)->reply(in_one("first"));
  held.at(0)->fail(internal("second"));
  EXPECT_EQ(flat(pending.reply.get().value()), "first");
}

TEST_F(GrpcTest, AnUnknownMethodIsUnimplementedWithoutText) {
  listen();
  Channel channel(address(), loop);
  EXPECT_EQ(start(channel, "/test.Service/Unknown", "").reply.get().status(), unimplemented(""));
}

TEST_F(GrpcTest, CancellingReachesTheServer) {
  listen();
  Channel channel(address(), loop);
  auto pending = start(channel, paths[hold], "");
  arrived.get_future().get();
  pending.call->cancel();
  EXPECT_EQ(pending.reply.get().status().code(), Code::kCancelled);
  EXPECT_TRUE(eventually([&] { return cancelled == 1; }));
  held.at(0)->reply(in_one("too late"));
}

TEST_F(GrpcTest, ADeadlineEndsTheCallOnBothSides) {
  listen();
  Channel channel(address(), loop);
  auto pending = start(channel, paths[hold], "", 50ms);
  EXPECT_EQ(pending.reply.get().status(), deadline_exceeded("Deadline Exceeded"));
  EXPECT_TRUE(eventually([&] { return cancelled == 1; }));
}

TEST_F(GrpcTest, AnsweredCallsAreNotCancelled) {
  listen();
  {
    Channel channel(address(), loop);
    auto pending = start(channel, paths[hold], "");
    arrived.get_future().get();
    held.at(0)->reply(in_one("done"));
    pending.reply.get();
  }
  server.shutdown(0ms);
  EXPECT_EQ(cancelled, 0);
}

TEST_F(GrpcTest, ShutdownCancelsWhatIsOpen) {
  listen();
  Channel channel(address(), loop);
  auto pending = start(channel, paths[hold], "");
  arrived.get_future().get();
  server.shutdown(10ms);
  EXPECT_FALSE(pending.reply.get().ok());
  EXPECT_TRUE(eventually([&] { return cancelled == 1; }));
}

TEST_F(GrpcTest, AnswersAfterTheEndGoNowhere) {
  listen();
  Channel channel(address(), loop);
  auto pending = start(channel, paths[hold], "");
  arrived.get_future().get();
  server.shutdown(0ms);
  loop.stop();
  held.at(0)->reply(in_one("too late"));
  EXPECT_FALSE(pending.reply.get().ok());
  EXPECT_EQ(start(channel, paths[echo], "").reply.get().status().code(), Code::kCancelled);
}

TEST_F(GrpcTest, StoppingTheLoopEndsOutgoingCalls) {
  listen();
  Channel nobody("127.0.0.1:1", loop);
  auto pending = start(nobody, paths[echo], "");
  server.shutdown(0ms);
  loop.stop();
  EXPECT_EQ(pending.reply.get().status().code(), Code::kCancelled);
}

TEST_F(GrpcTest, WithoutWaitingAMissingServerIsUnavailable) {
  listen();
  Channel nobody("127.0.0.1:1", loop, "/job:ps/replica:0/task:1");
  const Status status = start(nobody, paths[echo], "", {}, false).reply.get().status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(text_of(status).find("GRPC error information from remote target /job:ps"), std::string::npos);
}

TEST_F(GrpcTest, AWaitingCallFindsAServerThatComesLater) {
  listen();
  Loop later_loop(LoopScheduler::of(system));
  GrpcServer later(later_loop, {"/late/Echo"}, [](std::shared_ptr<ServerCall> c) { c->reply(std::move(c->request)); });
  int probe = 0;
  {
    Loop unused(LoopScheduler::of(system));
    GrpcServer finder(unused, {"/x/Y"}, [](std::shared_ptr<ServerCall>) {});
    ASSERT_TRUE(finder.listen({"127.0.0.1:0"}, &probe).ok());
  }
  Channel channel(fmt::format("127.0.0.1:{}", probe), loop);
  auto pending = start(channel, "/late/Echo", "hi", 20s);
  std::this_thread::sleep_for(300ms);
  int bound = 0;
  ASSERT_TRUE(later.listen({fmt::format("127.0.0.1:{}", probe)}, &bound).ok());
  EXPECT_EQ(bound, probe);
  later_loop.start();
  EXPECT_EQ(flat(pending.reply.get().value()), "hi");
  later.shutdown(0ms);
  later_loop.stop();
}

TEST_F(GrpcTest, ATakenPortIsRefusedByName) {
  listen({"127.0.0.1:0"});
  Loop other_loop(LoopScheduler::of(system));
  GrpcServer other(other_loop, paths, [](std::shared_ptr<ServerCall>) {});
  int other_port = 0;
  for (const std::string& where : {address(), fmt::format("0.0.0.0:{}", port)}) {
    const Status status = other.listen({where}, &other_port);
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_NE(text_of(status).find(where), std::string::npos) << status;
  }
  // Having failed, it can listen elsewhere.
  EXPECT_TRUE(other.listen({"127.0.0.1:0"}, &other_port).ok());
  EXPECT_NE(other_port, port);
}

TEST_F(GrpcTest, NonsenseToListenOnIsRefused) {
  int ignored = 0;
  EXPECT_EQ(server.listen({}, &ignored).code(), Code::kInvalidArgument);
  EXPECT_EQ(server.listen({"nowhere"}, &ignored).code(), Code::kInvalidArgument);
  EXPECT_EQ(server.listen({"127.0.0.1:70000"}, &ignored).code(), Code::kInvalidArgument);
  EXPECT_EQ(server.listen({"127.0.0.1:12x"}, &ignored).code(), Code::kInvalidArgument);
}

TEST_F(GrpcTest, AServerComesBeforeTheLoopStarts) {
  loop.start();
  EXPECT_EQ(server.listen({"127.0.0.1:0"}, &port).code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace troupe
