// The inbox actor: pushed tensors and those who wait for them, by step and key.
#include <troupe/actors/inbox.hpp>

#include <troupe/actors/recent_ids.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace troupe {
namespace {

struct Waiting {
  Taker to;
  std::uint64_t peer = 0;
};

struct StepInbox {
  std::shared_ptr<const std::string> session;
  std::unordered_multimap<std::string, Parcel<RecvTensorResponse>> tensors;
  std::unordered_multimap<std::string, Waiting> waiting;
  std::map<std::uint64_t, Status> aborted;  // by peer
};

/// What goes to those who wait, each of whom gets one message of a step.
class Answers {
 public:
  void add(const Taker& to, std::int64_t step, CameTensor tensor) {
    for (auto& [taker, came] : all_)
      if (taker == to && came.step == step) return came.tensors.push_back(std::move(tensor));
    all_.emplace_back(to, TensorsCame{step, {}}).second.tensors.push_back(std::move(tensor));
  }
  void send(Inbox::pointer from) {
    for (auto& [taker, came] : all_) from->send(taker, std::move(came));
  }

 private:
  boost::container::small_vector<std::pair<Taker, TensorsCame>, 2> all_;
};

struct InboxState {
  Inbox::pointer self = nullptr;
  LinkCountersPtr counters;
  std::unordered_map<std::int64_t, StepInbox> steps;
  RecentIds forgotten{10'000};
  std::vector<LinkLent> lent;

  LinkLent find(std::uint64_t incarnation) const {
    for (const LinkLent& link : lent)
      if (std::find(link.incarnations.begin(), link.incarnations.end(), incarnation) != link.incarnations.end()) return link;
    return {};
  }

  void take(TakeTensors& message) {
    FetchTensors& fetch = message.fetch;
    forgotten.forget(fetch.step);
    StepInbox& step = steps[fetch.step];
    if (!step.session) step.session = fetch.session;
    const auto aborted = step.aborted.find(message.peer);
    Answers answers;
    for (std::string& key : fetch.keys) {
      if (auto found = step.tensors.find(key); found != step.tensors.end()) {
        answers.add(fetch.to, fetch.step, {std::move(key), std::move(found->second), {}});
        step.tensors.erase(found);
        --counters->unclaimed;
        ++counters->taken;
      } else if (aborted != step.aborted.end()) {
        answers.add(fetch.to, fetch.step, {std::move(key), {}, aborted->second});
      } else {
        step.waiting.emplace(std::move(key), Waiting{fetch.to, message.peer});
      }
    }
    answers.send(self);
  }

  void pushed(PushedTensors& message) {
    Answers answers;
    for (PushedTensor& tensor : message.tensors) {
      // Clean-up may overtake a tensor, since it comes from another node.
      if (forgotten.contains(tensor.step)) {
        ++counters->dropped;
        continue;
      }
      StepInbox& step = steps[tensor.step];
      if (!step.session) step.session = tensor.session;
      const auto found = step.waiting.find(tensor.key);
      if (found == step.waiting.end()) {
        step.tensors.emplace(std::move(tensor.key), std::move(tensor.value));
        ++counters->unclaimed;
        continue;
      }
      answers.add(found->second.to, tensor.step, {std::move(tensor.key), std::move(tensor.value), {}});
      step.waiting.erase(found);
      ++counters->taken;
    }
    answers.send(self);
  }

  /// Those who wait for one peer, or for any where it is 0.
  void fail(std::int64_t id, StepInbox& step, std::uint64_t peer, const Status& reason) {
    Answers answers;
    std::erase_if(step.waiting, [&](const auto& entry) {
      if (peer != 0 && entry.second.peer != peer) return false;
      answers.add(entry.second.to, id, {entry.first, {}, reason});
      return true;
    });
    answers.send(self);
  }

  void abort(const PeerAborted& message) {
    if (forgotten.contains(message.step)) return;
    StepInbox& step = steps[message.step];
    if (step.aborted.emplace(message.peer, message.reason).second) fail(message.step, step, message.peer, message.reason);
  }

  void lost(const PeerLost& message) {
    for (auto& [id, step] : steps) fail(id, step, message.peer, message.reason);
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
    fail(id, step, 0, aborted("Cleanup {}", id));
  }

  void forget_session(const std::string& session) {
    std::vector<std::int64_t> over;
    for (const auto& [id, step] : steps)
      if (step.session && *step.session == session) over.push_back(id);
    for (std::int64_t id : over) forget(id);
  }

  void cancel(const CancelFetch& message) {
    if (const auto found = steps.find(message.step); found != steps.end())
      std::erase_if(found->second.waiting, [&](const auto& entry) { return entry.second.to == message.to; });
  }
};

Inbox::behavior_type inbox(Inbox::stateful_pointer<InboxState> self, LinkCountersPtr counters) {
  self->state.self = self;
  self->state.counters = std::move(counters);
  return {
      [=](TakeTensors& message) { self->state.take(message); },
      [=](PushedTensors& message) { self->state.pushed(message); },
      [=](const PeerAborted& message) { self->state.abort(message); },
      [=](const PeerLost& message) { self->state.lost(message); },
      [=](const ForgetStep& message) { self->state.forget(message.step); },
      [=](const ForgetSession& message) { self->state.forget_session(message.session); },
      [=](const CancelFetch& message) { self->state.cancel(message); },
      [=](LinkLent& message) { self->state.lent.push_back(std::move(message)); },
      [=](const LinkTakenBack& message) { std::erase_if(self->state.lent, [&](const LinkLent& link) { return link.by == message.by; }); },
      [=](const FindLink& message) { return self->state.find(message.incarnation); },
  };
}

}  // namespace

Inbox spawn_inbox(caf::actor_system& system, LinkCountersPtr counters) { return system.spawn(inbox, std::move(counters)); }

}  // namespace troupe
