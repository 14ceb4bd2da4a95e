// The device actor: runs of plans and the resources they share.
#include <troupe/actors/device.hpp>

#include <troupe/actors/functions.hpp>
#include <troupe/actors/step_roads.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/loop_scheduler.hpp>
#include <troupe/ops/parallel.hpp>
#include <troupe/ops/resources/variable.hpp>

#include <boost/container/flat_map.hpp>

#include <limits>
#include <map>

namespace troupe {
namespace {

/// One plan in execution with all that it needs around it. Lives until the execution is over.
struct Run {
  Run(Device::pointer device, RendezvousActor rendezvous, const Parcel<RunPlan>& request)
      : order(request), roads(device, request->session, std::move(rendezvous), request->step, cancellation) {}

  Parcel<RunPlan> order;
  Cancellation cancellation;
  StepRoads roads;
  std::shared_ptr<Execution> execution;
  Parcel<RunGraphResponse> done = pack<RunGraphResponse>();
  caf::typed_response_promise<Parcel<RunGraphResponse>> promise;
};

struct DeviceState {
  Device::pointer self = nullptr;
  DeviceFacts facts;
  RendezvousActor rendezvous;
  Offload offload;
  std::map<std::string, std::unique_ptr<ResourceStore>> stores;
  boost::container::flat_map<std::int64_t, std::shared_ptr<Run>> runs;  // by step
  boost::container::flat_map<std::uint64_t, std::int64_t> calls;
  std::shared_ptr<FunctionRunner> functions;
  std::shared_ptr<const Hands> hands;
  struct Watcher {
    AwaitVersion asked;
    caf::typed_response_promise<VariableVersion> promise;
  };
  std::vector<Watcher> watchers;  // of variables' versions

  ResourceStore& store(const std::string& name) {
    auto& slot = stores[name];
    if (!slot) slot = std::make_unique<ResourceStore>(facts.default_container);
    return *slot;
  }

  std::shared_ptr<const Hands> make_hands() const {
    auto hands = std::make_shared<Hands>();
    hands->cuts = std::make_shared<Cuts>();
    if (!offload) return hands;
    hands->offload = offload;
    if (!facts.computes_elsewhere) hands->worth_ns = hands->worth_alone_ns = std::numeric_limits<float>::infinity();
    auto* scheduler = dynamic_cast<LoopScheduler*>(&self->home_system().scheduler());
    hands->back = [device = caf::actor_cast<Device>(self), scheduler](std::function<void()> work) {
      const auto send = [&] { caf::anon_send(device, Job{std::make_shared<std::function<void()>>(std::move(work))}); };
      const HelpersScope as_elsewhere(nullptr);  // light kernels are not split, whichever thread the device runs on
      if (scheduler) scheduler->bring(send);
      else send();
    };
    return hands;
  }

  caf::result<Parcel<RunGraphResponse>> run(Parcel<RunPlan>& request) {
    if (runs.contains(request->step)) return to_caf(aborted("Step {} already runs on {}", request->step, facts.name));
    const SessionFacts& session = *request->session;
    auto run = std::make_shared<Run>(self, rendezvous, request);
    run->promise = self->make_response_promise<Parcel<RunGraphResponse>>();
    const auto promise = run->promise;
    // Feeds of a partial run that have not come yet do not come after a failure.
    run->cancellation.on_cancel([run = run.get()] { run->roads.fail(run->cancellation.reason()); });
    for (auto& feed : request->feeds) run->roads.feed(std::move(feed));
    run->execution = std::make_shared<Execution>(request->plan, hands);
    Execution& execution = *run->execution;
    execution.id = request->step;
    execution.device = request->device;
    execution.resources = &store(session.store);
    execution.rendezvous = &run->roads;
    execution.flush_when_idle();
    execution.cancellation = &run->cancellation;
    execution.set_functions(functions);
    if (facts.staleness) execution.watch(std::make_shared<StepSight>(facts.staleness, session.worker.empty() ? "unknown" : session.worker));
    if (request->record) {
      auto* stats = run->done->step_stats.edit().add_dev_stats();
      stats->set_device(execution.device);
      execution.record(stats);
    }
    runs[request->step] = run;
    if (request.call) calls[request.call] = request->step;
    if (request->partial) execution.fetch_at_once();
    execution.run([this, run](Status status) { over(run, std::move(status)); });
    return promise;
  }

  void over(const std::shared_ptr<Run>& run, Status status) {
    const RunPlan& order = *run->order;
    if (!status.ok()) run->roads.fail(as_derived(status));
    if (!watchers.empty()) tell_watchers();
    runs.erase(order.step);
    calls.erase(run->order.call);
    if (status.ok() && order.partial) finished_partial[order.step] = run;  // fetches may still be taken one by one
    if (status.ok() && !order.partial) {
      run->execution->resources->erase_step(order.step);
      auto fetched = run->roads.take_fetched();
      if (fetched.ok()) run->done->received = *std::move(fetched);
      else status = fetched.status();
    }
    if (status.ok()) {
      run->done->left_nothing = !order.plan->crosses();
      run->promise.deliver(std::move(run->done));
      return;
    }
    // Tasks that wait for this step's tensors learn why they will not come.
    if (order.alone) self->send(rendezvous, AbortStep{order.step, status, order.session->name_or_empty()});
    run->promise.deliver(to_caf(status));
  }

  caf::result<Parcel<Fetched>> feed_more(Parcel<FeedMore>& request) {
    auto promise = self->make_response_promise<Parcel<Fetched>>();
    auto found = runs.find(request->step);
    std::shared_ptr<Run> run;
    if (found != runs.end()) run = found->second;
    else if (auto over = finished_partial.find(request->step); over != finished_partial.end()) run = over->second;
    if (!run) {
      promise.deliver(to_caf(aborted("Step {} is not running", request->step)));
      return promise;
    }
    auto reply = pack<Fetched>();
    auto left = std::make_shared<std::size_t>(request->fetches.size() + 1);
    auto failed = std::make_shared<Status>();
    auto one_less = [=]() mutable {
      if (--*left > 0) return;
      if (failed->ok()) promise.deliver(reply);
      else promise.deliver(to_caf(*failed));
    };
    auto feeds = std::move(request->feeds);
    for (const auto& key : request->fetches)
      run->roads.fetch(key, [=](StatusOr<Value> value) mutable {
        if (value.ok()) reply->tensors.push_back({key, std::move(value->tensor)});
        else failed->Update(value.status());
        one_less();
      });
    for (auto& feed : feeds) run->roads.feed(std::move(feed));
    one_less();
    return promise;
  }

  caf::result<VariableVersion> await_version(AwaitVersion& message) {
    auto promise = self->make_response_promise<VariableVersion>();
    watchers.push_back({std::move(message), promise});
    tell_watchers();
    return promise;
  }

  /// Between runs only, so that a step's updates are seen all or not at all.
  void tell_watchers() {
    std::erase_if(watchers, [this](Watcher& watcher) {
      const auto found = store("").find<Variable>(watcher.asked.container, watcher.asked.name);
      if (!found.ok()) return false;
      const Variable& variable = **found;
      if (!variable.assigned() || variable.version() == watcher.asked.known) return false;
      watcher.promise.deliver(VariableVersion{variable.version(), variable.snapshot()});
      return true;
    });
  }

  void came(TensorsCame& message) {
    const auto found = runs.find(message.step);
    if (found == runs.end()) return;
    const auto alive = found->second;
    alive->roads.came(message);
  }

  void cancel(const CancelCall& message) {
    if (!watchers.empty())
      std::erase_if(watchers, [&](Watcher& watcher) {
        if (watcher.asked.call != message.call) return false;
        watcher.promise.deliver(to_caf(message.reason));
        return true;
      });
    auto found = calls.find(message.call);
    if (found == calls.end()) return;
    auto run = runs.find(found->second);
    if (run == runs.end()) return;
    auto alive = run->second;
    alive->roads.fail(message.reason);
    alive->execution->stop(message.reason);
  }

  void erase_containers(const EraseContainers& message) {
    for (auto& [name, store] : stores) {
      if (message.containers.empty()) store->erase_container(store->default_container());
      for (const auto& container : message.containers) store->erase_container(container);
    }
  }

  void forget(std::int64_t step) {
    finished_partial.erase(step);
    for (auto& [name, store] : stores) store->erase_step(step);
  }

  std::map<std::int64_t, std::shared_ptr<Run>> finished_partial;
};

Device::behavior_type device(Device::stateful_pointer<DeviceState> self, DeviceFacts facts, RendezvousActor rendezvous, Offload offload) {
  auto& state = self->state;
  state.self = self;
  state.facts = std::move(facts);
  state.rendezvous = std::move(rendezvous);
  state.offload = std::move(offload);
  state.hands = state.make_hands();
  state.functions = std::make_shared<FunctionRunner>(state.hands);
  return {
      [=](Parcel<RunPlan>& request) { return self->state.run(request); },
      [=](Parcel<FeedMore>& request) { return self->state.feed_more(request); },
      [=](const CancelCall& message) { self->state.cancel(message); },
      [=](const EraseContainers& message) { self->state.erase_containers(message); },
      [=](const EraseStore& message) { self->state.stores.erase(message.store); },
      [=](const ForgetStep& message) { self->state.forget(message.step); },
      [=](const Job& job) { (*job.work)(); },
      [=](AwaitVersion& message) { return self->state.await_version(message); },
      [=](TensorsCame& message) { self->state.came(message); },
  };
}

}  // namespace

Device spawn_device(caf::actor_system& system, DeviceFacts facts, RendezvousActor rendezvous, Offload offload) {
  return system.spawn(device, std::move(facts), std::move(rendezvous), std::move(offload));
}

}  // namespace troupe
