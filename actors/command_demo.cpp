// `troupe demo`: a cluster, a distributed hello world and a comparison of ways to train, without Python.
#include <troupe/actors/client.hpp>
#include <troupe/actors/commands.hpp>
#include <troupe/actors/lab/laboratory.hpp>
#include <troupe/actors/local_cluster.hpp>
#include <troupe/ops/builder/builder.hpp>

#include <stdlib.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>

namespace troupe {
namespace {

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

/// A new folder for what the comparison finds.
StatusOr<std::string> result_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "troupe-demo-XXXXXX").string();
  if (!mkdtemp(name.data())) return unavailable("No folder {}: {}", name, std::strerror(errno));
  return name;
}

Status run_demo() {
  fmt::print("Starting one ps and two workers on this machine ...\n");
  std::fflush(stdout);
  TRY_ASSIGN(auto cluster, LocalCluster::start({{"ps", 1}, {"worker", 2}}, {"--log_level=warning"}, false));
  fmt::print("A distributed hello world, asked of worker 0:\n");
  TRY(say_hello(cluster->cluster()));
  if (!cluster->stop(std::chrono::seconds(10))) return internal("A node did not end well");
  fmt::print("\nTwo workers, one of them slower, train on one ps, synchronously and not (troupe lab run demo):\n");
  std::fflush(stdout);
  TRY_ASSIGN(const std::string folder, result_folder());
  return lab::run({"demo", folder, false, false});
}

}  // namespace

void declare_demo(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("demo", "Show a cluster at work: hello world, and synchronous against asynchronous training");
  command->callback([&result] {
    const Status status = run_demo();
    if (!status.ok()) fmt::print(stderr, "\ntroupe demo: {}\n", text_of(status));
    result = status.ok() ? 0 : 1;
  });
}

}  // namespace troupe
