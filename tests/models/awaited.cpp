// Steps as Asio operations: training, variables, mistakes, cancellation.
#include "awaited.hpp"

#include "networks.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <troupe/actors/embed/variable.hpp>
#include <troupe/ops/builder/builder.hpp>

#include <cstdio>

namespace troupe::models {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using embed::Session;

#define CO_TRY(...)                                                 \
  do {                                                              \
    if (Status tried = (__VA_ARGS__); !tried.ok()) co_return tried; \
  } while (false)

std::string brief(const Status& status) { return std::string(absl::StatusCodeToString(status.code())); }

/// Numbers that depend on their places only, in the shapes of the placeholders; 8 examples.
StatusOr<embed::Feeds> feeds_for(const wire::GraphDef& graph) {
  embed::Feeds feeds;
  for (const auto& node : graph.node()) {
    if (node.op() != "Placeholder") continue;
    Shape shape;
    for (const auto& dim : node.attr().at("shape").shape().dim()) shape.add_dim(dim.size() < 0 ? 8 : dim.size());
    Tensor value(static_cast<DType>(node.attr().at("dtype").type()), shape);
    if (value.dtype() == DType::f32) {
      int i = 0;
      for (float& v : value.mutable_values<float>()) v = static_cast<float>(i++ % 17) / 17.0f;
    } else if (value.dtype() == DType::i64) {
      int i = 0;
      for (std::int64_t& v : value.mutable_values<std::int64_t>()) v = i++ % 10;
    } else {
      return unimplemented("No numbers of type {}", name_of(value.dtype()));
    }
    feeds.emplace(node.name() + ":0", std::move(value));
  }
  return feeds;
}

StatusOr<wire::GraphDef> endless_graph() {
  build::Builder b;
  const build::Op queue = b.op("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::f32}}}, "queue");
  b.op("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::f32}}}, "take");
  b.constant(2.0f, "two");
  return b.graph();
}

asio::awaitable<Status> train(Session session, wire::GraphDef graph) {
  const auto feeds = feeds_for(graph);
  CO_TRY(feeds.status());
  const std::vector<std::string> init{"init"}, loss{"loss:0"}, step{"train"}, wrong{"nothing:0"};
  CO_TRY((co_await session.async_run({}, {}, init, use_awaitable)).status());
  for (int i = 0; i < 4; ++i) {
    auto values = co_await session.async_run(*feeds, loss, step, use_awaitable);
    CO_TRY(values.status());
    fmt::print("loss {:.6g}\n", values->front().item<float>());
  }
  for (const std::string& name : session.variables()) {
    const embed::Variable variable(session, name);
    auto before = co_await variable.async_read(use_awaitable);
    CO_TRY(before.status());
    if (before->dtype() != DType::f32) continue;
    Tensor ones(DType::f32, before->shape());
    for (float& v : ones.mutable_values<float>()) v = 1;
    CO_TRY(co_await variable.async_assign(ones, use_awaitable));
    CO_TRY(co_await variable.async_update(ones, use_awaitable));
    auto after = co_await variable.async_read(use_awaitable);
    CO_TRY(after.status());
    double sum = 0;
    for (float v : after->values<float>()) sum += v;
    fmt::print("variable {} {} sum {}\n", name, to_string(after->shape()), sum);
  }
  fmt::print("no feed: {}\n", brief((co_await session.async_run({}, loss, {}, use_awaitable)).status()));
  fmt::print("no such fetch: {}\n", brief((co_await session.async_run({}, wrong, {}, use_awaitable)).status()));
  fmt::print("no such variable: {}\n", brief((co_await embed::Variable(session, "v").async_read(use_awaitable)).status()));
  CO_TRY(co_await session.async_close(use_awaitable));
  fmt::print("closed: {}\n", (co_await session.async_run({}, {}, init, use_awaitable)).ok() ? "runs" : "refused");
  co_return absl::OkStatus();
}

asio::awaitable<Status> cancel(Session session) {
  asio::cancellation_signal signal;
  asio::steady_timer soon(co_await asio::this_coro::executor, std::chrono::milliseconds(100));
  soon.async_wait([&](boost::system::error_code) { signal.emit(asio::cancellation_type::terminal); });
  const std::vector<std::string> take{"take:0"}, two{"two:0"};
  const auto taken = co_await session.async_run({}, take, {}, asio::bind_cancellation_slot(signal.slot(), use_awaitable));
  fmt::print("cancelled: {}\n", brief(taken.status()));
  const auto after = co_await session.async_run({}, two, {}, use_awaitable);
  CO_TRY(after.status());
  fmt::print("and on: {}\n", after->front().item<float>());
  co_return absl::OkStatus();
}

asio::awaitable<Status> everything(embed::Stage& stage, embed::Node& node, wire::GraphDef graph, wire::GraphDef endless, std::string target) {
  const bool here = target == "here";
  if (here) CO_TRY(co_await node.async_start(use_awaitable));
  {
    auto door = here ? embed::door_of(node) : embed::door_of(stage, target);
    auto session = co_await embed::async_open_session(door, graph, {}, use_awaitable);
    CO_TRY(session.status());
    CO_TRY(co_await train(*session, graph));
    auto waiting = co_await embed::async_open_session(door, endless, {}, use_awaitable);
    CO_TRY(waiting.status());
    CO_TRY(co_await cancel(*waiting));
  }
  if (here) CO_TRY(co_await node.async_stop(std::chrono::milliseconds(0), use_awaitable));
  co_return absl::OkStatus();
}

}  // namespace

Status await_steps(const std::string& model, const std::string& target) {
  TRY_ASSIGN(const auto meta, network(model));
  TRY_ASSIGN(const auto endless, endless_graph());
  asio::io_context io(1);
  embed::Stage stage(io);
  embed::Node node(stage, {});
  Status result = internal("It never ended");
  asio::co_spawn(io, everything(stage, node, meta.graph_def(), endless, target),
                 [&](const std::exception_ptr& failed, Status status) { result = failed ? internal("An exception") : std::move(status); });
  io.run();
  return result;
}

}  // namespace troupe::models
