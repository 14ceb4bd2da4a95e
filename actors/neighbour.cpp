// The neighbour actor: passes requests to another task's worker, and answers for it when that ends.
#include <troupe/actors/neighbour.hpp>

#include <troupe/messaging/caf_status.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace troupe {
namespace {

struct NeighbourState {
  PeerActor::pointer self = nullptr;
  std::shared_ptr<const Neighbours> neighbours;
  std::string task, address;
  std::function<PeerActor()> make_far;
  PeerActor far;
  std::set<caf::actor_addr> watched;
  std::uint64_t last = 0;
  struct Open {
    caf::actor_addr worker;
    std::function<void(const Status&)> fail;
  };
  std::unordered_map<std::uint64_t, Open> open;         // what the other task has not answered yet
  std::multimap<std::int64_t, std::uint64_t> fetching;  // calls for tensors among that, by step

  const Worker* near() const {
    auto found = neighbours->by_address.find(address);
    return found == neighbours->by_address.end() ? nullptr : &found->second.worker;
  }
  bool find_far() {
    if (!far) far = make_far();
    return static_cast<bool>(far);
  }
  caf::error absent() const { return to_caf(unavailable("No task of this process serves {} ({})", address, task)); }

  void watch(const Worker& worker) {
    if (watched.insert(worker.address()).second) self->monitor(worker);
  }

  template <class Response, class Request>
  caf::result<Parcel<Response>> ask(const Worker& worker, Request request) {
    watch(worker);
    auto promise = self->make_response_promise<Parcel<Response>>();
    const std::uint64_t number = ++last;
    open.emplace(number, Open{worker.address(), [promise](const Status& why) mutable { promise.deliver(to_caf(why)); }});
    self->request(worker, caf::infinite, std::move(request))
        .then(
            [this, number, promise](Parcel<Response>& reply) mutable {
              if (open.erase(number) != 0) promise.deliver(std::move(reply));
            },
            [this, number, promise](caf::error& error) mutable {
              if (open.erase(number) != 0) promise.deliver(std::move(error));
            });
    return promise;
  }

  template <class Response, class Request>
  caf::result<Parcel<Response>> pass(Parcel<Request>& request) {
    if (const Worker* worker = near()) return ask<Response>(*worker, std::move(request));
    if (!find_far()) return absent();
    return self->delegate(far, std::move(request));
  }

  void fetch(FetchTensors& message) {
    const Worker* worker = near();
    if (worker == nullptr && find_far()) return self->send(far, std::move(message));
    for (const std::string& key : message.keys) {
      if (worker) ask_for(*worker, message, key);
      else came(message, key, {}, unavailable("No task of this process serves {} ({})", address, task));
    }
  }
  void ask_for(const Worker& worker, const FetchTensors& message, const std::string& key) {
    watch(worker);
    auto request = pack<RecvTensorRequest>();
    request->step_id = message.step;
    request->rendezvous_key = key;
    request->request_id = random_request_id();
    const std::uint64_t call = request.call = next_call_number();
    const std::uint64_t number = ++last;
    fetching.emplace(message.step, call);
    const FetchTensors asker{message.step, {}, nullptr, {}, message.to};
    const auto ended = [this, asker, key, call, number](const Parcel<RecvTensorResponse>& value, const Status& status) {
      const auto [begin, end] = fetching.equal_range(asker.step);
      const auto fetch = std::find_if(begin, end, [&](const auto& entry) { return entry.second == call; });
      if (fetch != end) fetching.erase(fetch);
      came(asker, key, value, status);
    };
    open.emplace(number, Open{worker.address(), [ended](const Status& why) { ended({}, why); }});
    self->request(worker, caf::infinite, std::move(request))
        .then(
            [this, number, ended](Parcel<RecvTensorResponse>& value) {
              if (open.erase(number) != 0) ended(value, absl::OkStatus());
            },
            [this, number, ended](caf::error& error) {
              if (open.erase(number) != 0) ended({}, from_caf(error));
            });
  }
  void came(const FetchTensors& fetch, const std::string& key, Parcel<RecvTensorResponse> value, const Status& status) {
    self->send(fetch.to, TensorsCame{fetch.step, {CameTensor{key, std::move(value), status}}});
  }

  void cancel(const CancelFetch& message) {
    const auto [begin, end] = fetching.equal_range(message.step);
    if (const Worker* worker = near())
      for (auto it = begin; it != end; ++it) self->send(*worker, CancelCall{it->second, cancelled("The step is cancelled")});
    if (far) self->send(far, message);
  }
  void cancel(const CancelCall& message) {
    if (const Worker* worker = near()) self->send(*worker, message);
    if (far) self->send(far, message);
  }

  void down(const caf::actor_addr& worker) {
    watched.erase(worker);
    const Status why = unavailable("{} has stopped", task);
    std::vector<Open> lost;
    std::erase_if(open, [&](auto& entry) {
      if (entry.second.worker != worker) return false;
      lost.push_back(std::move(entry.second));
      return true;
    });
    for (Open& entry : lost) entry.fail(why);
  }
};

PeerActor::behavior_type neighbour(PeerActor::stateful_pointer<NeighbourState> self, std::shared_ptr<const Neighbours> neighbours, std::string task,
                                   std::string address, std::function<PeerActor()> far) {
  self->state.self = self;
  self->state.neighbours = std::move(neighbours);
  self->state.task = std::move(task);
  self->state.address = std::move(address);
  self->state.make_far = std::move(far);
  self->set_down_handler([self](caf::down_msg& message) { self->state.down(message.source); });
#define PASS(name) [=](Asked<wire::name##Request>& r) { return self->state.pass<native<wire::name##Response>>(r); }
  return {
      [=](const CancelCall& message) { self->state.cancel(message); },
      PASS(GetStatus),
      PASS(CreateWorkerSession),
      PASS(DeleteWorkerSession),
      PASS(RegisterGraph),
      PASS(DeregisterGraph),
      PASS(RunGraph),
      PASS(CleanupGraph),
      PASS(CleanupAll),
      PASS(RecvTensor),
      PASS(MarkRecvFinished),
      PASS(Logging),
      PASS(Tracing),
      PASS(RecvBuf),
      PASS(GetStepSequence),
      PASS(CompleteGroup),
      PASS(CompleteInstance),
      [=](FetchTensors& message) { self->state.fetch(message); },
      [=](const CancelFetch& message) { self->state.cancel(message); },
      [=](const ForgetSession& message) {
        if (self->state.far) self->send(self->state.far, message);
      },
  };
#undef PASS
}

}  // namespace

PeerActor spawn_neighbour(caf::actor_system& system, std::shared_ptr<const Neighbours> neighbours, std::string task, std::string address,
                          std::function<PeerActor()> far) {
  return system.spawn(neighbour, std::move(neighbours), std::move(task), std::move(address), std::move(far));
}

}  // namespace troupe
