// Routing of a step's tensors.
#include <troupe/actors/step_roads.hpp>

#include <troupe/actors/plan/partition.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/wall_clock.hpp>

#include <algorithm>

namespace troupe {
namespace {

std::string_view part_of_key(std::string_view key, int part) {
  for (; part > 0; --part) key.remove_prefix(std::min(key.size(), key.find(';') + 1));
  return key.substr(0, key.find(';'));
}

}  // namespace

bool StepRoads::is_client_key(const std::string& key) const { return part_of_key(key, 0) == part_of_key(key, 2); }

void StepRoads::feed(NamedTensor tensor) {
  auto waiting = feed_receivers_.find(tensor.name);
  if (waiting == feed_receivers_.end()) {
    feeds_[tensor.name] = Value(std::move(tensor.tensor));
    return;
  }
  Receiver receiver = std::move(waiting->second);
  feed_receivers_.erase(waiting);
  receiver(Value(std::move(tensor.tensor)));
}

Status StepRoads::dead_fetch(const std::string& key) const {
  return internal("Failed to fetch outputs for step {}. (Original error message: The tensor returned for {} was not valid.)", step_, key);
}

void StepRoads::give(const std::string& key, Value value, const Receiver& receiver) const {
  if (value.dead) receiver(dead_fetch(key));
  else receiver(std::move(value));
}

void StepRoads::fetch(const std::string& key, Receiver receiver) {
  if (auto found = fetched_.find(key); found != fetched_.end()) {
    Value value = std::move(found->second);
    fetched_.erase(found);
    return give(key, std::move(value), receiver);
  }
  if (!failed_.ok()) return receiver(failed_);
  fetch_receivers_[key] = std::move(receiver);
}

StatusOr<std::vector<NamedTensor>> StepRoads::take_fetched() {
  std::vector<NamedTensor> all;
  for (auto& [key, value] : fetched_) {
    if (value.dead) return dead_fetch(key);
    all.push_back({key, std::move(value.tensor)});
  }
  fetched_.clear();
  return all;
}

void StepRoads::fail(const Status& reason) {
  failed_.Update(reason);
  auto feeds = std::move(feed_receivers_);
  auto fetches = std::move(fetch_receivers_);
  feed_receivers_.clear();
  fetch_receivers_.clear();
  for (auto& [key, receiver] : feeds) receiver(reason);
  for (auto& [key, receiver] : fetches) receiver(reason);
}

Status StepRoads::send(const std::string& key, Value value) {
  if (is_client_key(key)) {
    if (auto waiting = fetch_receivers_.find(key); waiting != fetch_receivers_.end()) {
      Receiver receiver = std::move(waiting->second);
      fetch_receivers_.erase(waiting);
      give(key, std::move(value), receiver);
    } else {
      fetched_[key] = std::move(value);
    }
    return absl::OkStatus();
  }
  auto parcel = pack<RecvTensorResponse>();
  parcel->is_dead = value.dead;
  parcel->tensor = std::move(value.tensor);
  parcel->send_start_micros = now_micros();
  made_.push_back({key, std::move(parcel)});
  return absl::OkStatus();
}

void StepRoads::receive(const std::string& key, Receiver receiver) {
  if (is_client_key(key)) {
    if (auto found = feeds_.find(key); found != feeds_.end()) {
      Value value = std::move(found->second);
      feeds_.erase(found);
      return receiver(std::move(value));
    }
    if (!failed_.ok()) return receiver(failed_);
    feed_receivers_[key] = std::move(receiver);
    return;
  }
  if (cancellation_.cancelled()) return receiver(cancellation_.reason());
  const std::string task = task_of(std::string(part_of_key(key, 0)));
  if (task == session_->task) return ask_here(key, std::move(receiver));
  const auto& peers = session_->peers;
  auto peer = peers ? peers->find(task) : Peers::const_iterator{};
  if (!peers || peer == peers->end()) return receiver(invalid("No worker known as {}: this task does not know its address", task));
  // At once: the step may fail before what it wants has been asked for.
  if (!std::exchange(hears_cancel_, true)) cancellation_.on_cancel([this] { cancelled(); });
  receivers_.emplace(key, std::move(receiver));
  for (auto& [known, keys] : wanted_)
    if (known == peer->second) return keys.push_back(key);
  wanted_.emplace_back(peer->second, std::vector{key});
}

void StepRoads::flush() {
  if (!made_.empty()) device_->send(local_, PutTensors{step_, session_->name, std::exchange(made_, {}), 0});
  if (wanted_.empty()) return;
  const auto self = caf::actor_cast<Taker>(device_);
  for (auto& [peer, keys] : std::exchange(wanted_, {})) {
    if (std::find(asked_.begin(), asked_.end(), peer) == asked_.end()) asked_.push_back(peer);
    device_->send(peer, FetchTensors{step_, std::move(keys), session_->name, session_->task, self});
  }
}

void StepRoads::came(TensorsCame& message) {
  for (CameTensor& tensor : message.tensors) {
    const auto found = receivers_.find(tensor.key);
    if (found == receivers_.end()) continue;  // the step was cancelled meanwhile
    Receiver receiver = std::move(found->second);
    receivers_.erase(found);
    if (!tensor.status.ok()) {
      receiver(std::move(tensor.status));
      continue;
    }
    Value value(std::move(tensor.value->tensor));
    value.dead = tensor.value->is_dead;
    receiver(std::move(value));
  }
}

void StepRoads::cancelled() {
  wanted_.clear();
  const auto self = caf::actor_cast<Taker>(device_);
  for (const PeerActor& peer : asked_) device_->send(peer, CancelFetch{step_, self});
  for (auto& [key, receiver] : std::exchange(receivers_, {})) receiver(cancellation_.reason());
}

/// Another device of this task.
void StepRoads::ask_here(const std::string& key, Receiver receiver) {
  auto request = pack<RecvTensorRequest>();
  request->step_id = step_;
  request->rendezvous_key = key;
  request->request_id = random_request_id();
  const std::uint64_t call = request.call = next_call_number();
  const auto token = cancellation_.on_cancel([this, call] { device_->send(local_, CancelCall{call, cancellation_.reason()}); });
  device_->request(local_, caf::infinite, std::move(request))
      .then(
          [this, token, receiver](Parcel<RecvTensorResponse>& reply) {
            cancellation_.forget(token);
            Value value(std::move(reply->tensor));
            value.dead = reply->is_dead;
            receiver(std::move(value));
          },
          [this, token, receiver](caf::error& error) {
            cancellation_.forget(token);
            receiver(from_caf(error));
          });
}

}  // namespace troupe
