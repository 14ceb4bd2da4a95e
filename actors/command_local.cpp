// `troupe local`: a whole cluster on this machine, until a signal comes.
#include <troupe/actors/commands.hpp>
#include <troupe/actors/local_cluster.hpp>
#include <troupe/config/tf_config.hpp>

#include <signal.h>
#include <CLI/CLI.hpp>

#include <cstdio>

namespace troupe {
namespace {

int run_local(const std::vector<std::string>& jobs, const std::vector<std::string>& node_arguments) {
  std::vector<JobCount> counts;
  for (const auto& text : jobs) {
    auto count = parse_job_count(text);
    if (!count.ok()) {
      fmt::print(stderr, "troupe local: {}\n", text_of(count.status()));
      return 2;
    }
    counts.push_back(*std::move(count));
  }
  sigset_t signals;
  sigemptyset(&signals);
  for (int s : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto cluster = LocalCluster::start(counts, node_arguments, false);
  if (!cluster.ok()) {
    fmt::print(stderr, "troupe local: {}\n", text_of(cluster.status()));
    return 1;
  }
  for (const auto& [job, addresses] : (*cluster)->cluster().jobs)
    for (const auto& [index, address] : addresses) fmt::print("{}/{} grpc://{}\n", job, index, address);
  fmt::print("export TF_CONFIG='{}'\n", render_tf_config((*cluster)->cluster(), std::nullopt));
  std::fflush(stdout);
  int signal = 0;
  std::string gone;
  do {
    sigwait(&signals, &signal);
    if (signal == SIGCHLD) gone = (*cluster)->ended();
  } while (signal == SIGCHLD && gone.empty());
  if (!gone.empty()) fmt::print(stderr, "troupe local: {} has ended; stopping the others\n", gone);
  const bool well = (*cluster)->stop(std::chrono::seconds(10));
  return gone.empty() && well ? 0 : 1;
}

}  // namespace

void declare_local(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("local", "Start a whole cluster of processes on this machine and stop them together");
  auto jobs = std::make_shared<std::vector<std::string>>();
  auto arguments = std::make_shared<std::vector<std::string>>();
  command->add_option("--job", *jobs, "A job and its number of tasks, ps=1; may be repeated")->type_name("NAME=COUNT")->required();
  command->add_option("--node", *arguments, "An argument for every node, --node=--log_level=debug; may be repeated")->type_name("ARGUMENT");
  command->callback([jobs, arguments, &result] { result = run_local(*jobs, *arguments); });
}

}  // namespace troupe
