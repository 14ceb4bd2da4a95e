// The inbox actor: pushed tensors and those who wait for them, by step and key.
#include <troupe/actors/inbox.hpp>

#include <troupe/actors/recent_ids.hpp>
#include <troupe/messaging/caf_status.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace troupe {
namespace {

using Promise = caf::typed_response_promise<Parcel<RecvTensorResponse>>;

struct Waiting {
  Promise promise;
  std::uint64_t call = 0;
  std::uint64_t peer = 0;
};

struct StepInbox {
  std::shared_ptr<const std::string> session;
  std::unordered_multimap<std::string, Parcel<RecvTensorResponse>> tensors;
  std::unordered_multimap<std::string, Waiting> waiting;
  std::map<std::uint64_t, Status> aborted;  // by peer
};

struct InboxState {
  Inbox::pointer self = nullptr;
  LinkCountersPtr counters;
  std::unordered_map<std::int64_t, StepInbox> steps;
  std::unordered_map<std::uint64_t, std::pair<std::int64_t, std::string>> calls;
  RecentIds forgotten{10'000};
  std::vector<LinkLent> lent;

  LinkLent find(std::uint64_t incarnation) const {
    for (const LinkLent& link : lent)
      if (std::find(link.incarnations.begin(), link.incarnations.end(), incarnation) != link.incarnations.end()) return link;
    return {};
  }

  caf::result<Parcel<RecvTensorResponse>> take(TakeTensor& message) {
    const RecvTensorRequest& request = *message.request;
    forgotten.forget(request.step_id);
    StepInbox& step = steps[request.step_id];
    if (!step.session) step.session = message.session;
    if (auto found = step.tensors.find(request.rendezvous_key); found != step.tensors.end()) {
      auto tensor = std::move(found->second);
      step.tensors.erase(found);
      --counters->unclaimed;
      ++counters->taken;
      return tensor;
    }
    if (auto aborted = step.aborted.find(message.peer); aborted != step.aborted.end()) return to_caf(aborted->second);
    Promise promise = self->make_response_promise<Parcel<RecvTensorResponse>>();
    step.waiting.emplace(request.rendezvous_key, Waiting{promise, message.request.call, message.peer});
    if (message.request.call) calls[message.request.call] = {request.step_id, request.rendezvous_key};
    return promise;
  }

  void pushed(PushedTensor& message) {
    // Clean-up may overtake a tensor, since it comes from another node.
    if (forgotten.contains(message.put.step)) return void(++counters->dropped);
    StepInbox& step = steps[message.put.step];
    if (!step.session) step.session = message.put.session;
    auto found = step.waiting.find(message.put.key);
    if (found == step.waiting.end()) {
      step.tensors.emplace(std::move(message.put.key), std::move(message.put.value));
      return void(++counters->unclaimed);
    }
    Promise promise = std::move(found->second.promise);
    calls.erase(found->second.call);
    step.waiting.erase(found);
    ++counters->taken;
    promise.deliver(std::move(message.put.value));
  }

  void fail(StepInbox& step, std::uint64_t peer, const Status& reason) {
    for (auto it = step.waiting.begin(); it != step.waiting.end();) {
      if (peer != 0 && it->second.peer != peer) {
        ++it;
        continue;
      }
      Promise promise = std::move(it->second.promise);
      calls.erase(it->second.call);
      it = step.waiting.erase(it);
      promise.deliver(to_caf(reason));
    }
  }

  void abort(const PeerAborted& message) {
    if (forgotten.contains(message.step)) return;
    StepInbox& step = steps[message.step];
    if (step.aborted.emplace(message.peer, message.reason).second) fail(step, message.peer, message.reason);
  }

  void lost(const PeerLost& message) {
    for (auto& [id, step] : steps) fail(step, message.peer, message.reason);
  }

  void forget(std::int64_t id) {
    forgotten.remember(id);
    auto found = steps.find(id);
    if (found == steps.end()) return;
    StepInbox step = std::move(found->second);
    steps.erase(found);
    const auto unclaimed = static_cast<std::int64_t>(step.tensors.size());
    counters->unclaimed -= unclaimed;
    counters->dropped += unclaimed;
    fail(step, 0, aborted("Cleanup {}", id));
  }

  void forget_session(const std::string& session) {
    std::vector<std::int64_t> over;
    for (const auto& [id, step] : steps)
      if (step.session && *step.session == session) over.push_back(id);
    for (std::int64_t id : over) forget(id);
  }

  void cancel(const CancelCall& message) {
    auto call = calls.find(message.call);
    if (call == calls.end()) return;
    auto [id, key] = std::move(call->second);
    calls.erase(call);
    auto& waiting = steps[id].waiting;
    const auto [begin, end] = waiting.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      if (it->second.call != message.call) continue;
      Promise promise = std::move(it->second.promise);
      waiting.erase(it);
      promise.deliver(to_caf(message.reason));
      return;
    }
  }
};

Inbox::behavior_type inbox(Inbox::stateful_pointer<InboxState> self, LinkCountersPtr counters) {
  self->state.self = self;
  self->state.counters = std::move(counters);
  return {
      [=](TakeTensor& message) { return self->state.take(message); },
      [=](PushedTensor& message) { self->state.pushed(message); },
      [=](const PeerAborted& message) { self->state.abort(message); },
      [=](const PeerLost& message) { self->state.lost(message); },
      [=](const ForgetStep& message) { self->state.forget(message.step); },
      [=](const ForgetSession& message) { self->state.forget_session(message.session); },
      [=](const CancelCall& message) { self->state.cancel(message); },
      [=](LinkLent& message) { self->state.lent.push_back(std::move(message)); },
      [=](const LinkTakenBack& message) { std::erase_if(self->state.lent, [&](const LinkLent& link) { return link.by == message.by; }); },
      [=](const FindLink& message) { return self->state.find(message.incarnation); },
  };
}

}  // namespace

Inbox spawn_inbox(caf::actor_system& system, LinkCountersPtr counters) { return system.spawn(inbox, std::move(counters)); }

}  // namespace troupe
