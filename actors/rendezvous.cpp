// Tensors in waiting and receivers in waiting, by step and key; those of linked nodes are passed on at once.
#include <troupe/actors/rendezvous.hpp>

#include <troupe/actors/plan/partition.hpp>
#include <troupe/actors/recent_ids.hpp>
#include <troupe/messaging/caf_status.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

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

/// Where a session's tensors for one task go.
struct Want {
  Pushes to;
  std::uint64_t number = 0;
};

struct StepTable {
  Status aborted;
  std::shared_ptr<const std::string> session;
  std::map<std::string, Meeting> meetings;
  std::vector<std::string> pushed_to;     // tasks
  std::map<std::string, Status> lost_to;  // tasks that may have missed what was pushed
};

/// The task that a rendezvous key's tensor goes to.
std::string receiver_of(const std::string& key) {
  std::size_t begin = 0;
  for (int i = 0; i < 2; ++i) begin = std::min(key.size(), key.find(';', begin)) + 1;
  if (begin > key.size()) return {};
  return task_of(key.substr(begin, key.find(';', begin) - begin));
}

struct RendezvousState {
  RendezvousActor::pointer self;
  LinkCountersPtr counters;
  std::unordered_map<std::int64_t, StepTable> steps;
  std::map<std::uint64_t, std::pair<std::int64_t, std::string>> calls;
  std::unordered_map<std::string, std::map<std::string, Want>> wants;  // by session, then task
  RecentIds forgotten{10'000};

  const Want* want_of(const std::string& session, const std::string& task) const {
    const auto found = wants.find(session);
    if (found == wants.end()) return nullptr;
    const auto want = found->second.find(task);
    return want == found->second.end() ? nullptr : &want->second;
  }

  void put(PutTensors& message) {
    forgotten.forget(message.step);
    StepTable& table = steps[message.step];
    if (!table.session) table.session = message.session;
    Batches batches;
    for (KeyedTensor& tensor : message.tensors) {
      auto found = table.meetings.find(tensor.key);
      if (found != table.meetings.end() && !found->second.receivers.empty()) {
        Receiver receiver = std::move(found->second.receivers.front());
        table.meetings.erase(found);
        calls.erase(receiver.call);
        receiver.promise.deliver(std::move(tensor.value));
      } else if (Batch* batch = batch_for(batches, message, tensor.key)) {
        batch->push.tensors.push_back(std::move(tensor));
      } else {
        ++counters->kept;
        table.meetings[tensor.key].values.push_back(std::move(tensor.value));
      }
    }
    for (Batch& batch : batches) push(table, batch.task, *batch.want, std::move(batch.push));
  }

  /// What goes to one linked node.
  struct Batch {
    std::string task;
    const Want* want = nullptr;
    PutTensors push;
  };
  using Batches = boost::container::small_vector<Batch, 2>;

  Batch* batch_for(Batches& batches, const PutTensors& message, const std::string& key) const {
    if (!message.session || wants.empty()) return nullptr;
    std::string task = receiver_of(key);
    for (Batch& batch : batches)
      if (batch.task == task) return &batch;
    const Want* want = want_of(*message.session, task);
    if (want == nullptr) return nullptr;
    return &batches.emplace_back(Batch{std::move(task), want, {message.step, message.session, {}, 0}});
  }

  void push(StepTable& table, const std::string& task, const Want& want, PutTensors message) {
    if (std::find(table.pushed_to.begin(), table.pushed_to.end(), task) == table.pushed_to.end()) table.pushed_to.push_back(task);
    message.want = want.number;
    counters->pushed += static_cast<std::int64_t>(message.tensors.size());
    self->send(want.to, std::move(message));
  }

  caf::result<Parcel<RecvTensorResponse>> receive(Parcel<RecvTensorRequest>& request) {
    forgotten.forget(request->step_id);
    StepTable& table = steps[request->step_id];
    auto found = table.meetings.find(request->rendezvous_key);
    if (found != table.meetings.end() && !found->second.values.empty()) {
      auto& values = found->second.values;
      auto value = std::move(values.front());
      values.pop_front();
      if (values.empty()) table.meetings.erase(found);
      --counters->kept;
      return value;
    }
    if (!table.aborted.ok()) return to_caf(table.aborted);
    if (!table.lost_to.empty())
      if (auto lost = table.lost_to.find(receiver_of(request->rendezvous_key)); lost != table.lost_to.end()) return to_caf(lost->second);
    Promise promise = self->make_response_promise<Parcel<RecvTensorResponse>>();
    table.meetings[request->rendezvous_key].receivers.push_back({promise, request.call});
    if (request.call) calls[request.call] = {request->step_id, request->rendezvous_key};
    return promise;
  }

  void fail_all(StepTable& table, const Status& reason) {
    auto meetings = std::move(table.meetings);
    table.meetings.clear();
    for (auto& [key, meeting] : meetings) {
      counters->kept -= static_cast<std::int64_t>(meeting.values.size());
      for (auto& receiver : meeting.receivers) {
        calls.erase(receiver.call);
        receiver.promise.deliver(to_caf(reason));
      }
    }
  }

  void abort(const AbortStep& message) {
    // A cancelled run may end after its step was cleaned up; nobody would clean up again.
    if (forgotten.contains(message.step)) return;
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
    if (auto found = wants.find(message.session); found != wants.end())
      for (const auto& [task, want] : found->second) self->send(want.to, message);
  }

  void forget(std::int64_t step) {
    forgotten.remember(step);
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

  void want(WantPushes& message) {
    auto& slot = wants[message.session][message.task];
    if (slot.to && slot.to != message.to) lose(message.session, message.task, unavailable("The link to {} was replaced", message.task));
    if (!slot.to) ++counters->wants;
    slot = {message.to, message.number};
    for (auto& [step, table] : steps)
      if (table.session && *table.session == message.session) catch_up(step, table, message, slot);
  }

  /// Hands over what a step has made for the task so far, or why it will not come.
  void catch_up(std::int64_t step, StepTable& table, const WantPushes& message, const Want& want) {
    for (auto it = table.meetings.begin(); it != table.meetings.end();) {
      if (it->second.values.empty() || receiver_of(it->first) != message.task) {
        ++it;
        continue;
      }
      counters->kept -= static_cast<std::int64_t>(it->second.values.size());
      PutTensors all{step, table.session, {}, 0};
      for (auto& value : it->second.values) all.tensors.push_back({it->first, std::move(value)});
      push(table, message.task, want, std::move(all));
      it = table.meetings.erase(it);
    }
    if (!table.aborted.ok()) self->send(want.to, AbortStep{step, table.aborted, message.session});
    else if (auto lost = table.lost_to.find(message.task); lost != table.lost_to.end())
      self->send(want.to, AbortStep{step, lost->second, message.session});
  }

  void lose(const std::string& session, const std::string& task, const Status& reason) {
    for (auto& [step, table] : steps) {
      const bool pushed = std::find(table.pushed_to.begin(), table.pushed_to.end(), task) != table.pushed_to.end();
      if (!pushed || !table.session || *table.session != session) continue;
      table.lost_to.emplace(task, reason);
      // Who asks already may be waiting for what was pushed.
      for (auto& [key, meeting] : table.meetings) {
        if (meeting.receivers.empty() || receiver_of(key) != task) continue;
        for (auto& receiver : std::exchange(meeting.receivers, {})) {
          calls.erase(receiver.call);
          receiver.promise.deliver(to_caf(reason));
        }
      }
    }
  }

  template <class Condition>
  void drop_wants(const Condition& condition, const Status& reason) {
    for (auto session = wants.begin(); session != wants.end();) {
      std::erase_if(session->second, [&](const auto& entry) {
        if (!condition(entry.second)) return false;
        if (!reason.ok()) lose(session->first, entry.first, reason);
        --counters->wants;
        return true;
      });
      session = session->second.empty() ? wants.erase(session) : std::next(session);
    }
  }

  void forget_session(const std::string& session) {
    if (auto found = wants.find(session); found != wants.end()) {
      counters->wants -= static_cast<std::int64_t>(found->second.size());
      wants.erase(found);
    }
    std::vector<std::int64_t> over;
    for (const auto& [step, table] : steps)
      if (table.session && *table.session == session) over.push_back(step);
    for (std::int64_t step : over) forget(step);
  }
};

RendezvousActor::behavior_type rendezvous(RendezvousActor::stateful_pointer<RendezvousState> self, LinkCountersPtr counters) {
  self->state.self = self;
  self->state.counters = std::move(counters);
  return {
      [=](Parcel<RecvTensorRequest>& request) { return self->state.receive(request); },
      [=](PutTensors& message) { self->state.put(message); },
      [=](const AbortStep& message) { self->state.abort(message); },
      [=](const ForgetStep& message) { self->state.forget(message.step); },
      [=](const CancelCall& message) { self->state.cancel(message); },
      [=](WantPushes& message) { self->state.want(message); },
      [=](const UnwantPushes& message) {
        self->state.drop_wants([&](const Want& want) { return want.to == message.to && want.number == message.number; }, absl::OkStatus());
      },
      [=](const PushesLost& message) { self->state.drop_wants([&](const Want& want) { return want.to == message.to; }, message.reason); },
      [=](const ForgetSession& message) { self->state.forget_session(message.session); },
  };
}

}  // namespace

RendezvousActor spawn_rendezvous(caf::actor_system& system, LinkCountersPtr counters) { return system.spawn(rendezvous, std::move(counters)); }

}  // namespace troupe
