// A node on a loop of its own.
#include <troupe/actors/server.hpp>

#include <troupe/actors/company.hpp>
#include <troupe/actors/metrics.hpp>
#include <troupe/actors/serving.hpp>
#include <troupe/devices/float_mode.hpp>
#include <troupe/messaging/loop.hpp>
#include <troupe/messaging/loop_scheduler.hpp>

#include <omp.h>
#include <caf/all.hpp>

#include <algorithm>
#include <thread>

namespace troupe {
namespace {

struct SystemConfig : caf::actor_system_config {
  SystemConfig() { load<LoopScheduler>(); }
};

int compute_threads(const NodeOptions& options) {
  return options.compute_threads > 0 ? options.compute_threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string with_port(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

}  // namespace

/// Members go in reverse order: server, loop, then the actors, then their system.
struct Server::Stand {
  NodeIdentity identity;
  int port = 0;
  SystemConfig config;
  caf::actor_system system{config};
  std::unique_ptr<Company> company;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<GrpcServer> server;
  Gateway gateway;
  std::shared_ptr<Staleness> staleness;
  std::unique_ptr<Metrics> metrics;
  bool stopped = false;

  void assemble(const NodeOptions& options) {
    if (!options.metrics_dir.empty()) staleness = std::make_shared<Staleness>();
    company = std::make_unique<Company>(
        system, Company::Setup{identity.task, identity.cluster, compute_threads(options), options.io_threads, options.cpu_devices, staleness},
        [this](Company& of) {
          return [this, &of](const std::string& task, const std::string& at) { return spawn_peer(system, *loop, task, at, of.link_host()); };
        });
    gateway = company->open_gateway();
  }

  Status count(const NodeOptions& options) {
    if (options.metrics_dir.empty()) return {};
    std::vector<std::string> methods;
    for (const std::string& path : gateway_methods()) methods.push_back(path.substr(path.rfind('/') + 1));
    const auto interval = std::chrono::milliseconds(static_cast<std::int64_t>(options.metrics_secs * 1000));
    const std::string directory = fmt::format("{}/{}_{}", options.metrics_dir, identity.task.job, identity.task.index);
    auto made = Metrics::start(system, company->io(), {directory, interval, std::move(methods)}, company->counters(), staleness);
    if (!made.ok()) return append_text(made.status(), fmt::format(" (--metrics_dir={})", options.metrics_dir));
    metrics = *std::move(made);
    company->keep(metrics->actor());
    return {};
  }

  Status listen() {
    CallFilter counted;
    if (metrics) counted = [this](std::shared_ptr<ServerCall> call) { return metrics->counted(std::move(call)); };
    server = serve(*loop, gateway, std::move(counted));
    std::vector<std::string> addresses;
    for (const auto& host : identity.listen_hosts) addresses.push_back(with_port(host, identity.port));
    return server->listen(addresses, &port);
  }

  void stop(std::chrono::milliseconds grace) {
    if (stopped) return;
    stopped = true;
    const Status reason = unavailable("{} is shutting down.", company->name());
    close_after(*loop, gateway, reason, grace);
    if (server) shut_down(*server, grace);
    loop->stop();
    if (metrics) metrics->finish();
    company->dismiss();
    gateway = nullptr;
  }
};

Server::Server() : stand_(std::make_unique<Stand>()) {}
Server::~Server() {
  if (stand_->company) stand_->stop(std::chrono::milliseconds(0));
}

StatusOr<std::unique_ptr<Server>> Server::start(const NodeIdentity& identity, const NodeOptions& options) {
  auto server = std::unique_ptr<Server>(new Server);
  Stand& stand = *server->stand_;
  stand.identity = identity;
  Loop::Options loop_options;
  loop_options.spin_us = options.spin_us;
  loop_options.on_thread_start = [] {
    omp_set_num_threads(1);
    flush_denormals();
  };
  stand.loop = std::make_unique<Loop>(LoopScheduler::of(stand.system), loop_options);
  LoopScheduler::of(stand.system).run_anywhere();
  stand.assemble(options);
  TRY(stand.count(options));
  TRY(stand.listen());
  stand.loop->start();
  return server;
}

std::string Server::target() const { return fmt::format("grpc://localhost:{}", stand_->port); }
const std::string& Server::task() const { return stand_->company->name(); }
int Server::port() const { return stand_->port; }
void Server::stop(std::chrono::milliseconds grace) { stand_->stop(grace); }

}  // namespace troupe
