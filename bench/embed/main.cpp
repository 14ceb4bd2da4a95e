// What a service pays for steps and messages: reads one command a line, answers with the seconds that one step or message took.
//
//   write FILE           the graph of the small model, for others to run
//   step COUNT           steps of the model on a node of this process, one awaited after the other
//   null COUNT           steps of an op that does nothing, the same way
//   far TARGET COUNT     steps of the model on the server at grpc://host:port
//   messages COUNT       requests to an actor, a hundred of them under way
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <caf/all.hpp>
#include <troupe/actors/embed/request.hpp>
#include <troupe/actors/embed/session.hpp>
#include <troupe/ops/builder/nn.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

namespace asio = boost::asio;
namespace embed = troupe::embed;
using asio::use_awaitable;
using troupe::Status;
using troupe::StatusOr;
using troupe::Tensor;
using Clock = std::chrono::steady_clock;

struct Ask {
  int value;
};

}  // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(Ask)

namespace {

/// Twenty layers of eight: each reads weights and offset, multiplies, adds, bends. A hundred nodes.
StatusOr<troupe::wire::GraphDef> model() {
  using namespace troupe::build;
  Builder b;
  Out x = b.placeholder(troupe::DType::f32, dims({-1, 8}), "x");
  for (int i = 0; i < 20; ++i) {
    const auto scope = b.scope("layer");
    const Variable weights = variable(b, "w", glorot_uniform({8, 8}, i + 1, 1)), offset = variable(b, "c", filled({8}, 0.1));
    x = relu(bias_add(matmul(x, weights), offset));
  }
  b.op("Identity", {x}, {}, "y");
  b.op("NoOp", {}, {}, "nothing");
  b.initializer("init");
  return b.graph();
}

class Bench {
 public:
  Bench()
      : stage_(io_), node_(stage_, {}), actor_(stage_.system().spawn([]() -> caf::behavior { return {[](const Ask& a) { return a.value + 1; }}; })) {}

  StatusOr<double> answer(const std::string& line) {
    std::istringstream in(line);
    std::string verb, target;
    long count = 1;
    in >> verb;
    if (verb == "write" || verb == "far") in >> target;
    if (verb != "write") in >> count;
    if (!in || count < 1) return troupe::invalid("What is '{}'?", line);
    StatusOr<double> seconds = troupe::internal("It never ended");
    auto take = [&](const std::exception_ptr& failed, StatusOr<double> value) {
      if (!failed) seconds = std::move(value);
    };
    if (verb == "write") return write(target);
    if (verb == "messages") messages(count, seconds);
    else if (verb == "step" || verb == "null") asio::co_spawn(io_, steps("", verb == "null", count), take);
    else if (verb == "far") asio::co_spawn(io_, steps(target, false, count), take);
    else return troupe::invalid("What is '{}'?", line);
    io_.restart();
    io_.run();
    return seconds;
  }

 private:
  static StatusOr<double> write(const std::string& file) {
    TRY_ASSIGN(const auto graph, model());
    std::ofstream(file, std::ios::binary) << graph.SerializeAsString();
    return 0.0;
  }

  asio::awaitable<Status> open(std::string target) {
    if (sessions_.contains(target)) co_return absl::OkStatus();
    if (target.empty())
      if (Status status = co_await node_.async_start(use_awaitable); !status.ok()) co_return status;
    const auto graph = model();
    if (!graph.ok()) co_return graph.status();
    auto door = target.empty() ? embed::door_of(node_) : embed::door_of(stage_, target);
    auto session = co_await embed::async_open_session(door, *graph, {}, use_awaitable);
    if (!session.ok()) co_return session.status();
    sessions_[target] = *session;
    const std::vector<std::string> init{"init"};
    co_return (co_await session->async_run({}, {}, init, use_awaitable)).status();
  }

  asio::awaitable<StatusOr<double>> steps(std::string target, bool null, long count) {
    if (Status status = co_await open(target); !status.ok()) co_return status;
    const embed::Session session = sessions_[target];
    embed::Feeds feeds;
    if (!null) feeds.emplace("x:0", Tensor::of<float>(troupe::Shape{1, 8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    std::vector<std::string> fetches, targets;
    (null ? targets : fetches).push_back(null ? "nothing" : "y:0");
    const auto begin = Clock::now();
    for (long i = 0; i < count; ++i) {
      const auto values = co_await session.async_run(feeds, fetches, targets, use_awaitable);
      if (!values.ok()) co_return values.status();
    }
    co_return std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(count);
  }

  void messages(long count, StatusOr<double>& seconds) {
    struct Flow {
      Bench& bench;
      long to_ask, to_come;
      Clock::time_point begin = Clock::now();
      StatusOr<double>& seconds;
      void ask() {
        --to_ask;
        embed::async_request<int>(bench.actor_, Ask{1}, [this](const StatusOr<int>& reply) {
          if (!reply.ok()) seconds = reply.status();
          if (to_ask > 0) ask();
          if (--to_come == 0) seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        });
      }
    };
    Flow flow{*this, count, count, Clock::now(), seconds};
    asio::post(io_, [&] {
      for (int i = 0; i < 100 && flow.to_ask > 0; ++i) flow.ask();
    });
    io_.restart();
    io_.run();
    if (seconds.ok()) *seconds /= static_cast<double>(count);
  }

  asio::io_context io_{1};
  embed::Stage stage_;
  embed::Node node_;
  std::map<std::string, embed::Session> sessions_;
  caf::actor actor_;
};

}  // namespace

int main() {
  Bench bench;
  for (std::string line; std::getline(std::cin, line);) {
    const auto seconds = bench.answer(line);
    if (!seconds.ok()) {
      fmt::print(stderr, "{}\n", troupe::text_of(seconds.status()));
      return 1;
    }
    fmt::print("{:.9g}\n", *seconds);
    std::fflush(stdout);
  }
  return 0;
}
