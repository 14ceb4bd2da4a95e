// `troupe demo`: a cluster, a distributed hello world and a small training, without Python.
#include <troupe/actors/client.hpp>
#include <troupe/actors/commands.hpp>
#include <troupe/actors/local_cluster.hpp>
#include <troupe/ops/builder/math.hpp>
#include <troupe/ops/builder/replicas.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <random>

namespace troupe {
namespace {

/// y = w x + b on a worker, w and b on the ps, one step of gradient descent on the mean squared error.
StatusOr<wire::GraphDef> training_graph(int worker) {
  build::Builder b;
  auto replica = b.device(build::replica_device_setter({.ps_tasks = 1, .worker_device = fmt::format("/job:worker/task:{}", worker)}));
  const build::Out x = b.placeholder(DType::f32, build::dims({-1}), "x"), y = b.placeholder(DType::f32, build::dims({-1}), "y");
  const build::Variable slope = build::variable(b, "w", build::zeros({})), offset = build::variable(b, "b", build::zeros({}));
  const build::Out loss = mean(squared_difference(slope * x + offset, y), {}, "loss");
  build::GradientDescent descent(0.1);
  b.group({descent.minimize(loss)}, "train");
  b.initializer("init");
  return b.graph();
}

Status say_hello(const Cluster& cluster) {
  build::Builder b;
  std::vector<std::string> fetches;
  for (const auto& [job, addresses] : cluster.jobs)
    for (const auto& [index, address] : addresses) {
      auto task = b.device(fmt::format("/job:{}/task:{}", job, index));
      fetches.push_back(b.constant(Tensor::scalar(fmt::format("hello from {} task {}", job, index)), "hello").name());
    }
  TRY_ASSIGN(const auto graph, b.graph());
  TRY_ASSIGN(auto session, ClientSession::open(cluster.jobs.at("worker").at(0), graph, {}));
  TRY_ASSIGN(auto values, session->run({}, fetches, {}));
  for (const auto& value : values) fmt::print("  {}\n", value.item<std::string>());
  return absl::OkStatus();
}

void show_progress(int done, int of, float loss) {
  const int width = 40, filled = width * done / of;
  fmt::print("\r  [{}{}] step {:3} of {}  loss {:8.5f}", std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(width - filled), '.'), done, of, loss);
  std::fflush(stdout);
}

Status train(const Cluster& cluster) {
  constexpr int steps = 200, batch = 64;
  std::vector<std::unique_ptr<ClientSession>> workers;
  for (int w = 0; w < 2; ++w) {
    TRY_ASSIGN(const auto graph, training_graph(w));
    TRY_ASSIGN(auto session, ClientSession::open(cluster.jobs.at("worker").at(w), graph, {}));
    workers.push_back(std::move(session));
  }
  TRY(workers[0]->run({}, {}, {"init"}).status());
  std::mt19937 random(7);
  std::normal_distribution<float> noise(0.0f, 0.1f), inputs(0.0f, 1.0f);
  for (int step = 1; step <= steps; ++step) {
    std::vector<float> x(batch), y(batch);
    for (int i = 0; i < batch; ++i) {
      x[static_cast<std::size_t>(i)] = inputs(random);
      y[static_cast<std::size_t>(i)] = 3.0f * x[static_cast<std::size_t>(i)] + 2.0f + noise(random);
    }
    TRY_ASSIGN(auto values,
               workers[static_cast<std::size_t>(step % 2)]->run({{"x:0", Tensor::vector(x)}, {"y:0", Tensor::vector(y)}}, {"loss:0"}, {"train"}));
    if (step % 10 == 0) show_progress(step, steps, values[0].item<float>());
  }
  TRY_ASSIGN(auto learned, workers[1]->run({}, {"w/Read/ReadVariableOp:0", "b/Read/ReadVariableOp:0"}, {}));
  const float w = learned[0].item<float>(), b = learned[1].item<float>();
  fmt::print("\n  The points lie on y = 3 x + 2 with some noise; two workers learned y = {:.3f} x + {:.3f}\n", w, b);
  if (std::abs(w - 3.0f) > 0.1f || std::abs(b - 2.0f) > 0.1f) return internal("The training did not find the line");
  return absl::OkStatus();
}

Status run_demo() {
  fmt::print("Starting one ps and two workers on this machine ...\n");
  std::fflush(stdout);
  TRY_ASSIGN(auto cluster, LocalCluster::start({{"ps", 1}, {"worker", 2}}, {"--log_level=warning"}, false));
  fmt::print("A distributed hello world, asked of worker 0:\n");
  TRY(say_hello(cluster->cluster()));
  fmt::print("A small training: variables on the ps, gradients from the two workers in turn\n");
  TRY(train(cluster->cluster()));
  if (!cluster->stop(std::chrono::seconds(10))) return internal("A node did not end well");
  return absl::OkStatus();
}

}  // namespace

void declare_demo(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("demo", "Show a cluster at work: hello world and a small training");
  command->callback([&result] {
    const Status status = run_demo();
    if (!status.ok()) fmt::print(stderr, "\ntroupe demo: {}\n", text_of(status));
    result = status.ok() ? 0 : 1;
  });
}

}  // namespace troupe
