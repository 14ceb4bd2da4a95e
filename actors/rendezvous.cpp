// Tensors in waiting and receivers in waiting, by step and key.
#include <troupe/actors/rendezvous.hpp>

#include <troupe/messaging/caf_status.hpp>

#include <deque>

namespace troupe {
namespace {

using Promise = caf::typed_response_promise<Parcel<RecvTensorResponse>>;

struct Receiver {
  Promise promise;
  std::uint64_t call = 0;
};

/// Values and receivers of one key; at most one of the two is not empty.
struct Meeting {
  std::deque<Parcel<RecvTensorResponse>> values;
  std::deque<Receiver> receivers;
};

struct StepTable {
  Status aborted;
  std::map<std::string, Meeting> meetings;
};

struct RendezvousState {
  RendezvousActor::pointer self;
  std::map<std::int64_t, StepTable> steps;
  std::map<std::uint64_t, std::pair<std::int64_t, std::string>> calls;

  void put(PutTensor& message) {
    Meeting& meeting = steps[message.step].meetings[message.key];
    if (meeting.receivers.empty()) return meeting.values.push_back(std::move(message.value));
    Receiver receiver = std::move(meeting.receivers.front());
    meeting.receivers.pop_front();
    calls.erase(receiver.call);
    steps[message.step].meetings.erase(message.key);
    receiver.promise.deliver(std::move(message.value));
  }

  caf::result<Parcel<RecvTensorResponse>> receive(Parcel<RecvTensorRequest>& request) {
    StepTable& table = steps[request->step_id];
    Meeting& meeting = table.meetings[request->rendezvous_key];
    if (!meeting.values.empty()) {
      auto value = std::move(meeting.values.front());
      meeting.values.pop_front();
      if (meeting.values.empty()) table.meetings.erase(request->rendezvous_key);
      return value;
    }
    if (!table.aborted.ok()) return to_caf(table.aborted);
    Promise promise = self->make_response_promise<Parcel<RecvTensorResponse>>();
    meeting.receivers.push_back({promise, request.call});
    if (request.call) calls[request.call] = {request->step_id, request->rendezvous_key};
    return promise;
  }

  void fail_all(StepTable& table, const Status& reason) {
    auto meetings = std::move(table.meetings);
    table.meetings.clear();
    for (auto& [key, meeting] : meetings)
      for (auto& receiver : meeting.receivers) {
        calls.erase(receiver.call);
        receiver.promise.deliver(to_caf(reason));
      }
  }
  void abort(const AbortStep& message) {
    StepTable& table = steps[message.step];
    if (!table.aborted.ok()) return;
    table.aborted = message.reason;
    // Values stay: who comes for one that was made in time may have it.
    for (auto it = table.meetings.begin(); it != table.meetings.end();) {
      auto receivers = std::move(it->second.receivers);
      it = it->second.values.empty() ? table.meetings.erase(it) : std::next(it);
      for (auto& receiver : receivers) {
        calls.erase(receiver.call);
        receiver.promise.deliver(to_caf(message.reason));
      }
    }
  }
  void forget(std::int64_t step) {
    auto found = steps.find(step);
    if (found == steps.end()) return;
    StepTable table = std::move(found->second);
    steps.erase(found);
    fail_all(table, aborted("Cleanup {}", step));
  }
  void cancel(const CancelCall& message) {
    auto found = calls.find(message.call);
    if (found == calls.end()) return;
    auto [step, key] = found->second;
    calls.erase(found);
    auto& receivers = steps[step].meetings[key].receivers;
    for (auto it = receivers.begin(); it != receivers.end(); ++it) {
      if (it->call != message.call) continue;
      Promise promise = it->promise;
      receivers.erase(it);
      promise.deliver(to_caf(message.reason));
      return;
    }
  }
};

RendezvousActor::behavior_type rendezvous(RendezvousActor::stateful_pointer<RendezvousState> self) {
  self->state.self = self;
  return {
      [=](Parcel<RecvTensorRequest>& request) { return self->state.receive(request); },
      [=](PutTensor& message) { self->state.put(message); },
      [=](const AbortStep& message) { self->state.abort(message); },
      [=](const ForgetStep& message) { self->state.forget(message.step); },
      [=](const CancelCall& message) { self->state.cancel(message); },
  };
}

}  // namespace

RendezvousActor spawn_rendezvous(caf::actor_system& system) { return system.spawn(rendezvous); }

}  // namespace troupe
