// The ways by which a step's tensors come and go on a device: from and to the client, other devices and other tasks.
#pragma once

#include <troupe/actors/device.hpp>
#include <troupe/ops/cancellation.hpp>
#include <troupe/ops/rendezvous.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe {

/// Implements the port of Send and Recv for one step on one device; belongs to the device's actor.
class StepRoads final : public Rendezvous {
 public:
  StepRoads(Device::pointer device, std::shared_ptr<const SessionFacts> session, RendezvousActor local, std::int64_t step,
            Cancellation& cancellation)
      : device_(device), session_(std::move(session)), local_(std::move(local)), step_(step), cancellation_(cancellation) {}

  /// Hands a feed to whoever waits for it or will ask.
  void feed(NamedTensor tensor);
  /// Calls back with a fetched tensor when it is there; only one at a time per key.
  void fetch(const std::string& key, Receiver receiver);
  StatusOr<std::vector<NamedTensor>> take_fetched();
  /// Answers all who wait here; later ones get the reason too.
  void fail(const Status& reason);

  Status send(const std::string& key, Value value) override;
  void receive(const std::string& key, Receiver receiver) override;
  void flush() override;
  /// What other tasks have made for this step.
  void came(TensorsCame& message);

 private:
  bool is_client_key(const std::string& key) const;
  Status dead_fetch(const std::string& key) const;
  void give(const std::string& key, Value value, const Receiver& receiver) const;
  void ask_here(const std::string& key, Receiver receiver);
  void cancelled();

  Device::pointer device_;
  std::shared_ptr<const SessionFacts> session_;
  RendezvousActor local_;
  std::int64_t step_;
  Cancellation& cancellation_;
  Status failed_;
  std::map<std::string, Value> feeds_, fetched_;
  std::map<std::string, Receiver> feed_receivers_, fetch_receivers_;

  // What goes out together:
  std::vector<KeyedTensor> made_;
  std::vector<std::pair<PeerActor, std::vector<std::string>>> wanted_;
  // From other tasks:
  std::unordered_multimap<std::string, Receiver> receivers_;
  std::vector<PeerActor> asked_;
  bool hears_cancel_ = false;
};

}  // namespace troupe
