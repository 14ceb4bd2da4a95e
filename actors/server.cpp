// Composition of a node.
#include <troupe/actors/server.hpp>

#include <troupe/actors/device.hpp>
#include <troupe/actors/gateway.hpp>
#include <troupe/actors/master.hpp>
#include <troupe/actors/metrics.hpp>
#include <troupe/actors/peer.hpp>
#include <troupe/actors/worker.hpp>
#include <troupe/config/device_name.hpp>
#include <troupe/devices/float_mode.hpp>
#include <troupe/devices/pool.hpp>
#include <troupe/messaging/grpc_server.hpp>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/loop.hpp>
#include <troupe/messaging/loop_scheduler.hpp>

#include <omp.h>
#include <caf/all.hpp>

#include <random>
#include <thread>

namespace troupe {
namespace {

struct SystemConfig : caf::actor_system_config {
  SystemConfig() { load<LoopScheduler>(); }
};

std::uint64_t random_incarnation() {
  std::random_device seed;
  return (static_cast<std::uint64_t>(seed()) << 32) | seed() | 1;
}

wire::DeviceAttributes cpu_attributes(const Task& task) {
  wire::DeviceAttributes attributes;
  attributes.set_name(device_name(task.job, task.index, "CPU", 0));
  attributes.set_device_type("CPU");
  attributes.set_memory_limit(268435456);
  attributes.mutable_locality();
  attributes.set_incarnation(random_incarnation());
  attributes.set_xla_global_id(-1);
  return attributes;
}

int compute_threads(const NodeOptions& options) {
  return options.compute_threads > 0 ? options.compute_threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// How long a node that stops still answers calls, to say that it stops.
constexpr std::chrono::milliseconds farewell{100};

std::string with_port(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

}  // namespace

/// Members go in reverse order: server, loop, then the actors, then the pools.
struct Server::Company {
  NodeIdentity identity;
  std::string task;
  int port = 0;
  std::unique_ptr<Pool> compute, io;
  SystemConfig config;
  caf::actor_system system{config};
  std::unique_ptr<Loop> loop;
  std::unique_ptr<GrpcServer> server;
  std::vector<caf::strong_actor_ptr> actors;
  Gateway gateway;
  Inbox inbox;
  LinkCountersPtr counters = std::make_shared<LinkCounters>();
  std::map<std::pair<std::string, std::string>, PeerActor> known_peers;  // by task and address: sessions that bring the same share them
  std::unique_ptr<Metrics> metrics;
  bool stopped = false;

  template <class Handle>
  Handle keep(Handle handle) {
    actors.push_back(caf::actor_cast<caf::strong_actor_ptr>(handle));
    return handle;
  }

  PeerActor peer_at(const std::string& name, const std::string& address) {
    auto& peer = known_peers[{name, address}];
    if (!peer) peer = keep(spawn_peer(system, *loop, name, address, inbox, counters));
    return peer;
  }

  std::shared_ptr<const Peers> peers_of(const Cluster& cluster) {
    auto peers = std::make_shared<Peers>();
    for (const auto& [job, addresses] : cluster.jobs)
      for (const auto& [index, address] : addresses)
        if (Task{job, index} != identity.task) (*peers)[task_name(job, index)] = peer_at(task_name(job, index), address);
    return peers;
  }
  std::shared_ptr<const Peers> peers_of(const wire::ClusterDef& proto) {
    Cluster cluster;
    for (const auto& job : proto.job())
      for (const auto& [index, address] : job.tasks()) cluster.jobs[job.name()][index] = address;
    return peers_of(cluster);
  }

  void assemble(const NodeOptions& options) {
    const auto attributes = cpu_attributes(identity.task);
    compute = std::make_unique<Pool>(compute_threads(options), "troupe-compute");
    io = std::make_unique<Pool>(options.io_threads, "troupe-io");
    auto rendezvous = keep(spawn_rendezvous(system, counters));
    inbox = keep(spawn_inbox(system, counters));
    DeviceFacts facts{attributes.name(), task, attributes.incarnation(), identity.task.job};
    auto device = keep(spawn_device(
        system, facts, rendezvous, [this](std::function<void()> job, Place place) { (place == Place::io ? *io : *compute).submit(std::move(job)); }));
    auto peers = peers_of(identity.cluster);
    WorkerParts parts{task, {attributes}, {device}, rendezvous, inbox, peers, [this](const wire::ServerDef& def) { return peers_of(def.cluster()); }};
    auto worker = keep(spawn_worker(system, std::move(parts)));
    auto around = std::make_shared<Surroundings>();
    around->task = task;
    around->devices = {attributes};
    around->worker = worker;
    around->peers = peers;
    around->join_cluster = [this](const wire::ClusterDef& def) { return peers_of(def); };
    auto master = keep(spawn_master(system, around));
    gateway = keep(spawn_gateway(system, master, GuestHost{worker, rendezvous, {attributes.incarnation()}, counters}));
  }

  Status count(const NodeOptions& options) {
    if (options.metrics_dir.empty()) return {};
    std::vector<std::string> methods;
    for (const std::string& path : gateway_methods()) methods.push_back(path.substr(path.rfind('/') + 1));
    const auto interval = std::chrono::milliseconds(static_cast<std::int64_t>(options.metrics_secs * 1000));
    const std::string directory = fmt::format("{}/{}_{}", options.metrics_dir, identity.task.job, identity.task.index);
    auto made = Metrics::start(system, *io, {directory, interval, std::move(methods)}, counters);
    if (!made.ok()) return append_text(made.status(), fmt::format(" (--metrics_dir={})", options.metrics_dir));
    metrics = *std::move(made);
    keep(metrics->actor());
    return {};
  }

  Status listen() {
    server = std::make_unique<GrpcServer>(
        *loop, gateway_methods(),
        [this](std::shared_ptr<ServerCall> call) {
          caf::anon_send(gateway, Incoming{metrics ? metrics->counted(std::move(call)) : std::move(call)});
        },
        link_path, [this](std::shared_ptr<Stream> stream) { caf::anon_send(gateway, IncomingLink{std::move(stream)}); });
    std::vector<std::string> addresses;
    for (const auto& host : identity.listen_hosts) addresses.push_back(with_port(host, identity.port));
    return server->listen(addresses, &port);
  }

  void stop(std::chrono::milliseconds grace) {
    if (stopped) return;
    stopped = true;
    const Status reason = unavailable("{} is shutting down.", task);
    caf::anon_send(gateway, Close{reason, false});
    loop->post_after(grace, [gateway = gateway, reason] { caf::anon_send(gateway, Close{reason, true}); });
    // A call that comes while gRPC shuts down gets its CANCELLED, which no session takes for a restart: for a moment calls are still
    // accepted and hear the reason from the gateway, so that whoever runs step after step knows.
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(grace, farewell));
    server->shutdown(grace + std::chrono::seconds(1));
    loop->stop();
    if (metrics) metrics->finish();
    for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    actors.clear();
    known_peers.clear();
    inbox = nullptr;
    gateway = nullptr;
  }
};

Server::Server() : company_(std::make_unique<Company>()) {}
Server::~Server() {
  if (company_) company_->stop(std::chrono::milliseconds(0));
}

StatusOr<std::unique_ptr<Server>> Server::start(const NodeIdentity& identity, const NodeOptions& options) {
  auto server = std::unique_ptr<Server>(new Server);
  Company& company = *server->company_;
  company.identity = identity;
  company.task = task_name(identity.task.job, identity.task.index);
  Loop::Options loop_options;
  loop_options.spin_us = options.spin_us;
  loop_options.on_thread_start = [] {
    omp_set_num_threads(1);
    flush_denormals();
  };
  company.loop = std::make_unique<Loop>(LoopScheduler::of(company.system), loop_options);
  company.assemble(options);
  TRY(company.count(options));
  TRY(company.listen());
  company.loop->start();
  return server;
}

std::string Server::target() const { return fmt::format("grpc://localhost:{}", company_->port); }
const std::string& Server::task() const { return company_->task; }
int Server::port() const { return company_->port; }
void Server::stop(std::chrono::milliseconds grace) { company_->stop(grace); }

}  // namespace troupe
