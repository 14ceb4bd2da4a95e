// The model's graph, its nodes and its steps.
#include "model.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <troupe/ops/builder/nn.hpp>
#include <troupe/ops/builder/optimizer.hpp>

#include <array>

namespace service {
namespace {

using asio::use_awaitable;
using troupe::Status;
using troupe::StatusOr;
using troupe::Tensor;
namespace embed = troupe::embed;
constexpr std::int64_t inputs = 2;

embed::NodeSetup task(const std::string& job, int index) {
  embed::NodeSetup setup;
  setup.task = {job, index};
  setup.cluster = embed::local_cluster({{"ps", 2}, {"worker", 1}});
  if (job == "worker") setup.listen = {"localhost:0"};
  return setup;
}

StatusOr<troupe::wire::GraphDef> graph() {
  using namespace troupe::build;
  Builder b;
  const Out x = b.placeholder(troupe::DType::f32, dims({-1, inputs}), "x"), y = b.placeholder(troupe::DType::f32, dims({-1, 1}), "y");
  auto weights = [&] {
    const auto scope = b.device("/job:ps/task:0");
    return variable(b, "w", zeros({inputs, 1}));
  }();
  auto offset = [&] {
    const auto scope = b.device("/job:ps/task:1");
    return variable(b, "c", zeros({1}));
  }();
  const Out prediction = add(matmul(x, weights), offset, "prediction");
  GradientDescent descent(0.05);
  b.group({descent.minimize(mean(squared_difference(prediction, y)))}, "train");
  b.initializer("init");
  return b.graph();
}

Tensor row(const std::vector<float>& x) { return Tensor::of<float>(troupe::Shape{1, static_cast<std::int64_t>(x.size())}, x); }

}  // namespace

Model::Model(const embed::Stage& stage) : first_(stage, task("ps", 0)), second_(stage, task("ps", 1)), worker_(stage, task("worker", 0)) {}

asio::awaitable<Status> Model::start() {
  const std::array nodes{&first_, &second_, &worker_};
  for (embed::Node* node : nodes)
    if (Status status = co_await node->async_start(use_awaitable); !status.ok()) co_return status;
  auto made = graph();
  if (!made.ok()) co_return made.status();
  auto session = co_await embed::async_open_session(worker_, *made, use_awaitable);
  if (!session.ok()) co_return session.status();
  session_ = *session;
  const std::vector<std::string> init{"init"};
  co_return (co_await session_.async_run({}, {}, init, use_awaitable)).status();
}

asio::awaitable<Status> Model::stop() {
  Status status;
  const std::array nodes{&worker_, &second_, &first_};
  for (embed::Node* node : nodes) status.Update(co_await node->async_stop(std::chrono::milliseconds(100), use_awaitable));
  co_return status;
}

asio::awaitable<StatusOr<float>> Model::predict(std::vector<float> x) {
  const embed::Feeds feeds{{"x:0", row(x)}};
  const std::vector<std::string> fetches{"prediction:0"};
  auto values = co_await session_.async_run(feeds, fetches, {}, use_awaitable);
  if (!values.ok()) co_return values.status();
  co_return values->front().item<float>();
}

asio::awaitable<Status> Model::learn(std::vector<float> x, float y) {
  const embed::Feeds feeds{{"x:0", row(x)}, {"y:0", row({y})}};
  const std::vector<std::string> train{"train"};
  co_return (co_await session_.async_run(feeds, {}, train, use_awaitable)).status();
}

}  // namespace service
