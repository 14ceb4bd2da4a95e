// The actors of a node and how they are put together: what a server of its own and a node inside a service share.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/gateway.hpp>
#include <troupe/actors/peer.hpp>
#include <troupe/actors/worker.hpp>
#include <troupe/config/cluster.hpp>
#include <troupe/devices/pool.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Knows every actor's implementation. Owned by the composition root and gone before its actor system; made and dismissed where its
/// actors run, or before and after they do. Its destructor waits for kernels that still run.
class Company {
 public:
  struct Setup {
    Task task;
    Cluster cluster;
    int compute_threads = 0;  // none: kernels run where the actors do
    int io_threads = 1;       // for kernels that wait for files; started by the first of them
    int cpu_devices = 1;
    std::shared_ptr<Staleness> staleness = {};  // counts for metrics; may be none
  };
  /// Makes the peer of a task, by its name and address.
  using MakePeer = std::function<PeerActor(const std::string& name, const std::string& address)>;

  Company(caf::actor_system& system, Setup setup, std::function<MakePeer(Company&)> roads);
  ~Company() { join_threads(); }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  /// "/job:worker/replica:0/task:0"
  const std::string& name() const { return name_; }
  const Master& master() const { return master_; }
  const Worker& worker() const { return worker_; }
  /// The first one: where nodes go that nobody placed.
  const Device& device() const { return devices_.front(); }
  LinkHost link_host() const;
  const LinkCountersPtr& counters() const { return counters_; }
  Pool& io() { return *io_; }

  /// The way in for gRPC.
  Gateway open_gateway();
  /// Ends with the company.
  template <class Handle>
  Handle keep(Handle handle) {
    actors_.push_back(caf::actor_cast<caf::strong_actor_ptr>(handle));
    return handle;
  }
  /// Ends all actors. Open requests are not answered any more.
  void dismiss();
  /// After dismiss, on any thread: waits for kernels that still run.
  void join_threads();
  bool has_threads() const { return io_->started() || (compute_ && compute_->started()); }

 private:
  std::shared_ptr<const Peers> peers_of(const Cluster& cluster);
  std::shared_ptr<const Peers> peers_of(const wire::ClusterDef& proto);
  Offload offload() const;
  void assemble();

  caf::actor_system& system_;
  Setup setup_;
  std::string name_;
  std::shared_ptr<Pool> compute_, io_;  // joined by the company; actors that end later may still hold them
  LinkCountersPtr counters_ = std::make_shared<LinkCounters>();
  std::vector<wire::DeviceAttributes> attributes_;
  RendezvousActor rendezvous_;
  Inbox inbox_;
  std::vector<Device> devices_;
  Worker worker_;
  Master master_;
  std::vector<caf::strong_actor_ptr> actors_;
  MakePeer make_peer_;
  std::map<std::pair<std::string, std::string>, PeerActor> known_peers_;  // by task and address: sessions that bring the same share them
};

}  // namespace troupe
