// `troupe demo`: a cluster, a distributed hello world and a small training, without Python.
#include <troupe/actors/client.hpp>
#include <troupe/actors/commands.hpp>
#include <troupe/actors/local_cluster.hpp>
#include <troupe/messaging/tensor_codec.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <random>

namespace troupe {
namespace {

/// Just enough to write a graph down.
class Sketch {
 public:
  void on(std::string device) { device_ = std::move(device); }
  std::string node(const std::string& name, const std::string& op, std::initializer_list<std::string> inputs) {
    auto* def = graph_.add_node();
    def->set_name(name);
    def->set_op(op);
    def->set_device(device_);
    for (const auto& input : inputs) def->add_input(input);
    return name;
  }
  std::string math(const std::string& name, const std::string& op, std::initializer_list<std::string> inputs) {
    node(name, op, inputs);
    attr("T").set_type(wire::DT_FLOAT);
    return name;
  }
  std::string constant(const std::string& name, const Tensor& value) {
    node(name, "Const", {});
    attr("dtype").set_type(static_cast<wire::DataType>(value.dtype()));
    to_proto(value, attr("value").mutable_tensor());
    return name;
  }
  std::string placeholder(const std::string& name) {
    node(name, "Placeholder", {});
    attr("dtype").set_type(wire::DT_FLOAT);
    return name;
  }
  std::string variable(const std::string& name) {
    node(name, "VariableV2", {});
    attr("dtype").set_type(wire::DT_FLOAT);
    attr("shape").mutable_shape();
    return name;
  }
  wire::AttrValue& attr(const std::string& name) { return (*graph_.mutable_node(graph_.node_size() - 1)->mutable_attr())[name]; }
  const wire::GraphDef& graph() const { return graph_; }

 private:
  wire::GraphDef graph_;
  std::string device_;
};

/// y = w x + b on a worker, w and b on the ps, one step of gradient descent on the mean squared error.
wire::GraphDef training_graph(int worker) {
  Sketch s;
  s.on("/job:ps/task:0");
  s.variable("w");
  s.variable("b");
  s.constant("zero", Tensor::scalar(0.0f));
  s.math("init_w", "Assign", {"w", "zero"});
  s.math("init_b", "Assign", {"b", "zero"});
  s.node("init", "NoOp", {"^init_w", "^init_b"});
  s.on(fmt::format("/job:worker/task:{}", worker));
  s.placeholder("x");
  s.placeholder("y");
  s.constant("all", Tensor::vector(std::vector<std::int32_t>{0}));
  s.constant("two", Tensor::scalar(2.0f));
  s.math("wx", "Mul", {"w", "x"});
  s.math("guess", "AddV2", {"wx", "b"});
  s.math("error", "Sub", {"guess", "y"});
  s.math("squares", "Mul", {"error", "error"});
  s.math("loss", "Mean", {"squares", "all"});
  s.math("slope", "Mul", {"two", "error"});
  s.math("slope_x", "Mul", {"slope", "x"});
  s.math("grad_w", "Mean", {"slope_x", "all"});
  s.math("grad_b", "Mean", {"slope", "all"});
  s.on("/job:ps/task:0");
  s.constant("rate", Tensor::scalar(0.1f));
  s.math("train_w", "ApplyGradientDescent", {"w", "rate", "grad_w"});
  s.math("train_b", "ApplyGradientDescent", {"b", "rate", "grad_b"});
  s.node("train", "NoOp", {"^train_w", "^train_b"});
  return s.graph();
}

Status say_hello(const Cluster& cluster) {
  Sketch s;
  std::vector<std::string> fetches;
  for (const auto& [job, addresses] : cluster.jobs)
    for (const auto& [index, address] : addresses) {
      s.on(fmt::format("/job:{}/task:{}", job, index));
      fetches.push_back(s.constant(fmt::format("hello_{}_{}", job, index), Tensor::scalar(fmt::format("hello from {} task {}", job, index))) + ":0");
    }
  TRY_ASSIGN(auto session, ClientSession::open(cluster.jobs.at("worker").at(0), s.graph(), {}));
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
    TRY_ASSIGN(auto session, ClientSession::open(cluster.jobs.at("worker").at(w), training_graph(w), {}));
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
  TRY_ASSIGN(auto learned, workers[1]->run({}, {"w:0", "b:0"}, {}));
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
