// Composition of a node's actors.
#include <troupe/actors/company.hpp>

#include <troupe/actors/master.hpp>
#include <troupe/config/device_name.hpp>

#include <random>

namespace troupe {
namespace {

std::uint64_t random_incarnation() {
  std::random_device seed;
  return (static_cast<std::uint64_t>(seed()) << 32) | seed() | 1;
}

wire::DeviceAttributes cpu_attributes(const Task& task, int number) {
  wire::DeviceAttributes attributes;
  attributes.set_name(device_name(task.job, task.index, "CPU", number));
  attributes.set_device_type("CPU");
  attributes.set_memory_limit(268435456);
  attributes.mutable_locality();
  attributes.set_incarnation(random_incarnation());
  attributes.set_xla_global_id(-1);
  return attributes;
}

}  // namespace

Company::Company(caf::actor_system& system, Setup setup, std::function<MakePeer(Company&)> roads)
    : system_(system),
      setup_(std::move(setup)),
      name_(task_name(setup_.task.job, setup_.task.index)),
      io_(std::make_shared<Pool>(setup_.io_threads, "troupe-io")) {
  for (int i = 0; i < setup_.cpu_devices; ++i) attributes_.push_back(cpu_attributes(setup_.task, i));
  if (setup_.compute_threads > 0) compute_ = std::make_shared<Pool>(setup_.compute_threads, "troupe-compute");
  inbox_ = keep(spawn_inbox(system_, counters_));
  make_peer_ = roads(*this);
  assemble();
}

void Company::assemble() {
  rendezvous_ = keep(spawn_rendezvous(system_, counters_));
  for (const auto& attributes : attributes_) {
    DeviceFacts facts{attributes.name(), name_, attributes.incarnation(), setup_.task.job, compute_ != nullptr, setup_.staleness};
    devices_.push_back(keep(spawn_device(system_, facts, rendezvous_, offload())));
  }
  auto peers = peers_of(setup_.cluster);
  WorkerParts parts{name_, attributes_, devices_, rendezvous_, inbox_, peers, [this](const wire::ServerDef& def) { return peers_of(def.cluster()); }};
  worker_ = keep(spawn_worker(system_, std::move(parts)));
  auto around = std::make_shared<Surroundings>();
  around->task = name_;
  around->devices = attributes_;
  around->worker = worker_;
  around->peers = peers;
  around->join_cluster = [this](const wire::ClusterDef& def) { return peers_of(def); };
  master_ = keep(spawn_master(system_, around));
}

Offload Company::offload() const {
  return [compute = compute_, io = io_](std::function<void()> job, Place place) {
    (place == Place::io || !compute ? *io : *compute).submit(std::move(job));
  };
}

void Company::join_threads() {
  if (compute_) compute_->join();
  io_->join();
}

LinkHost Company::link_host() const {
  std::vector<std::uint64_t> incarnations;
  for (const auto& attributes : attributes_) incarnations.push_back(attributes.incarnation());
  return {rendezvous_, inbox_, std::move(incarnations), counters_};
}

Gateway Company::open_gateway() { return keep(spawn_gateway(system_, master_, GuestHost{worker_, link_host()})); }

std::shared_ptr<const Peers> Company::peers_of(const Cluster& cluster) {
  auto peers = std::make_shared<Peers>();
  for (const auto& [job, addresses] : cluster.jobs)
    for (const auto& [index, address] : addresses) {
      if (Task{job, index} == setup_.task) continue;
      const std::string name = task_name(job, index);
      auto& peer = known_peers_[{name, address}];
      if (!peer) peer = keep(make_peer_(name, address));
      (*peers)[name] = peer;
    }
  return peers;
}

std::shared_ptr<const Peers> Company::peers_of(const wire::ClusterDef& proto) {
  Cluster cluster;
  for (const auto& job : proto.job())
    for (const auto& [index, address] : job.tasks()) cluster.jobs[job.name()][index] = address;
  return peers_of(cluster);
}

void Company::dismiss() {
  for (const auto& actor : actors_) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  actors_.clear();
  known_peers_.clear();
  rendezvous_ = nullptr;
  inbox_ = nullptr;
  devices_.clear();
  worker_ = nullptr;
  master_ = nullptr;
}

}  // namespace troupe
