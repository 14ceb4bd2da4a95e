// `troupe node`: a task of a cluster, until a signal comes.
#include <troupe/actors/commands.hpp>
#include <troupe/actors/logging.hpp>
#include <troupe/actors/server.hpp>
#include <troupe/config/options_cli.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <thread>

namespace troupe {
namespace {

/// Waits for SIGTERM or SIGINT; a second one ends the process where it stands.
void wait_for_signal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("{}: finishing", signal == SIGINT ? "SIGINT" : "SIGTERM");
  struct sigaction at_once {};
  at_once.sa_handler = [](int) { _exit(1); };
  sigaction(SIGTERM, &at_once, nullptr);
  sigaction(SIGINT, &at_once, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

/// Turns the end of the owner, who holds the other end of the pipe, into a SIGTERM.
Status watch_owner(int descriptor) {
  if (fcntl(descriptor, F_GETFD) < 0) return invalid("--owner_fd: {} is no open file descriptor; pass one end of a pipe", descriptor);
  std::thread([descriptor] {
    char bytes[64];
    for (;;) {
      const auto count = read(descriptor, bytes, sizeof bytes);
      if (count == 0 || (count < 0 && errno != EINTR)) break;
    }
    kill(getpid(), SIGTERM);
  }).detach();
  return {};
}

int complain(const Status& status) {
  fmt::print(stderr, "troupe node: {}\n", text_of(status));
  return 2;
}

int run_node(const NodeOptions& options) {
  const Environment environment = process_environment();
  auto level = resolve_log_level(options, environment);
  if (!level.ok()) return complain(level.status());
  set_up_logging(*level);
  auto identity = resolve(options, environment);
  if (!identity.ok()) return complain(identity.status());
  for (const auto& warning : identity->warnings) spdlog::warn("{}", warning);

  // Blocked before any thread starts, so that only the wait below sees them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  if (options.owner_fd)
    if (Status status = watch_owner(*options.owner_fd); !status.ok()) return complain(status);
  auto server = Server::start(*identity, options);
  if (!server.ok()) return complain(server.status());
  spdlog::info("{} serves at {}", (*server)->task(), (*server)->target());
  fmt::print("{}\n", (*server)->target());
  std::fflush(stdout);
  wait_for_signal(signals);
  (*server)->stop(std::chrono::milliseconds(static_cast<int>(options.grace * 1000)));
  spdlog::info("{} has ended", (*server)->task());
  spdlog::shutdown();
  // A kernel may still run on the pool; nobody waits for it any more.
  std::fflush(stdout);
  _exit(0);
}

}  // namespace

void declare_node(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("node", "Join a cluster as one of its tasks, through TF_CONFIG or flags");
  auto options = std::make_shared<NodeOptions>();
  declare_options(*command, *options);
  command->callback([options, &result] { result = run_node(*options); });
}

}  // namespace troupe
