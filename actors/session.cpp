// The session actor: opening, growing and closing.
#include <troupe/actors/session.hpp>

#include <troupe/actors/plan/place.hpp>
#include <troupe/actors/session_state.hpp>
#include <troupe/messaging/caf_status.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;

/// No filters admit everybody; otherwise one must match the task.
bool admitted(const wire::ConfigProto& config, const std::string& task) {
  if (config.device_filters().empty()) return true;
  auto full = parse_device(task);
  return full.ok() && std::any_of(config.device_filters().begin(), config.device_filters().end(), [&](const std::string& filter) {
           auto spec = parse_device(filter);
           if (!spec.ok()) return false;
           spec->type.reset();
           spec->id.reset();
           return matches(*spec, *full);
         });
}

}  // namespace

Answer<wire::CreateSessionResponse> SessionState::create(Asked<wire::CreateSessionRequest>& request) {
  opening = self->make_response_promise<Parcel<wire::CreateSessionResponse>>();
  opening_call = request.call;
  config = request->config();
  if (config.use_per_session_threads() || config.session_inter_op_thread_pool_size() > 0) {
    fail_opening(invalid("Distributed session does not support session thread pool options."));
    return opening;
  }
  first_graph.Swap(request->mutable_graph_def());
  if (Status status = join(request->target()); !status.ok()) {
    fail_opening(status);
    return opening;
  }
  tasks[task] = around->worker;
  devices_of[task] = own_devices;
  for (const auto& [peer, worker] : *peers)
    if (peer != task && admitted(config, peer)) {
      tasks[peer] = worker;
      unanswered.insert(peer);
    }
  opened_at = last_complaint = Clock::now();
  // A graph that cannot be is refused before anybody is waited for.
  if (Status status = library->add(first_graph.library()); !status.ok()) {
    fail_opening(status);
    return opening;
  }
  auto made = Graph::from(first_graph, library);
  if (!made.ok()) {
    fail_opening(made.status());
    return opening;
  }
  graph = *std::move(made);
  first_graph.Clear();
  const auto waiting = unanswered;
  for (const auto& task : waiting) ask_status(task);
  if (unanswered.empty()) all_answered();
  return opening;
}

/// Takes part in the cluster of this node, or in the one that the client brought: there the client's target tells this node's name.
Status SessionState::join(const std::string& target) {
  task = around->task;
  own_devices = around->devices;
  peers = around->peers;
  if (config.cluster_def().job_size() == 0) return absl::OkStatus();
  peers = around->join_cluster(config.cluster_def());
  const std::string_view address = std::string_view(target).substr(target.starts_with("grpc://") ? 7 : 0);
  for (const auto& job : config.cluster_def().job())
    for (const auto& [index, at] : job.tasks()) {
      if (at != address) continue;
      task = task_name(job.name(), index);
      if (task == around->task)
        return invalid(
            "The ClusterSpec names the job and task index to be the same names that were provided when the server booted. This is currently not "
            "allowed. Job: {}, task index: {}",
            job.name(), index);
      for (auto& device : own_devices) device.set_name(rename_task(device.name(), task));
      return absl::OkStatus();
    }
  return absl::OkStatus();
}

void SessionState::ask_status(const std::string& task) {
  if (closing || !unanswered.contains(task)) return;
  self->request(tasks.at(task), caf::infinite, pack<wire::GetStatusRequest>())
      .then([this, task](Asked<wire::GetStatusResponse>& reply) { heard_from(task, *reply); },
            [this, task](caf::error& error) { not_heard_from(task, from_caf(error)); });
}

void SessionState::heard_from(const std::string& task, const wire::GetStatusResponse& status) {
  if (unanswered.erase(task) == 0) return;
  auto& list = devices_of[task];
  list.assign(status.device_attributes().begin(), status.device_attributes().end());
  for (auto& device : list) device.set_name(rename_task(device.name(), task));
  if (unanswered.empty() && !closing) all_answered();
}

void SessionState::not_heard_from(const std::string& task, const Status& why) {
  if (closing || !unanswered.contains(task)) return;
  const bool first = silence.emplace(task, why).second;
  silence[task] = why;
  const auto now = Clock::now();
  if (first || now - last_complaint > std::chrono::seconds(10)) {
    last_complaint = now;
    std::string text = text_of(why);
    spdlog::warn("Session {} waits for {}, which does not answer: {}", handle, task, text.substr(0, text.find('\n')));
  }
  self->delayed_send(self, std::chrono::milliseconds(250), AskAgain{task});
}

void SessionState::all_answered() {
  devices.clear();
  for (const auto& [task, list] : devices_of)
    for (const auto& device : list) devices.push_back(device);
  for (const auto& device : devices) incarnations[device.name()] = device.incarnation();
  if (Status status = place_all(*graph); !status.ok()) return fail_opening(status);
  open_worker_sessions();
}

Status SessionState::place_all(Graph& placed) {
  PlacementRequest request;
  for (const auto& device : devices) request.devices.push_back(device.name());
  request.default_device = client_device().name();
  request.allow_soft_placement = config.allow_soft_placement();
  TRY(place(placed, request));
  if (config.log_device_placement())
    for (const Node& node : placed.nodes()) spdlog::info("{}: ({}): {}", node.name(), node.kind(), node.device);
  return absl::OkStatus();
}

void SessionState::open_worker_sessions() {
  auto left = std::make_shared<std::size_t>(tasks.size());
  auto failed = std::make_shared<Status>();
  auto one_less = [this, left, failed] {
    if (--*left > 0) return;
    if (failed->ok()) opened();
    else fail_opening(*failed);
  };
  for (const auto& [task, worker] : tasks) {
    auto request = pack<wire::CreateWorkerSessionRequest>();
    request->set_session_handle(handle);
    request->set_isolate_session_state(config.isolate_session_state());
    request->set_master_task(this->task);
    request->set_master_incarnation(static_cast<std::int64_t>(client_device().incarnation()));
    auto* server = request->mutable_server_def();
    const auto name = parse_device(task);
    if (name.ok() && name->job) server->set_job_name(*name->job);
    if (name.ok() && name->task) server->set_task_index(*name->task);
    server->set_protocol("grpc");
    if (config.cluster_def().job_size() > 0) *server->mutable_cluster() = config.cluster_def();
    if (config.experimental().share_cluster_devices_in_session())
      for (const auto& device : devices) *request->add_cluster_device_attributes() = device;
    self->request(worker, caf::infinite, std::move(request))
        .then([one_less](Asked<wire::CreateWorkerSessionResponse>&) { one_less(); },
              [failed, one_less](caf::error& error) {
                failed->Update(from_caf(error));
                one_less();
              });
  }
}

void SessionState::opened() {
  if (closing) return;
  ready = true;
  opening_call = 0;
  auto reply = pack<wire::CreateSessionResponse>();
  reply->set_session_handle(handle);
  opening.deliver(std::move(reply));
}

void SessionState::fail_opening(const Status& status) {
  closing = true;
  opening_call = 0;
  opening.deliver(to_caf(status));
  self->quit();
}

Answer<wire::ExtendSessionResponse> SessionState::extend(Asked<wire::ExtendSessionRequest>& request) {
  if (Status status = ready_to_run(); !status.ok()) return to_caf(status);
  if (request->current_graph_version() != version)
    return to_caf(aborted("Current version is {} but caller expected {}.", version, request->current_graph_version()));
  Graph grown = *graph;
  if (Status status = library->add(request->graph_def().library()); !status.ok()) return to_caf(status);
  if (Status status = grown.extend(request->graph_def()); !status.ok()) return to_caf(status);
  unsettle(grown);
  if (Status status = place_all(grown); !status.ok()) return to_caf(status);
  graph = std::move(grown);
  // Steps of the smaller graph are not asked for again.
  std::erase_if(compilations, [](const auto& entry) { return entry.second->done; });
  auto reply = pack<wire::ExtendSessionResponse>();
  reply->set_new_graph_version(++version);
  return reply;
}

Answer<wire::ListDevicesResponse> SessionState::list_devices() const {
  auto reply = pack<wire::ListDevicesResponse>();
  for (const auto& device : devices) *reply->add_local_device() = device;
  return reply;
}

/// Steps that wait to be compiled are no steps yet, so nobody else would answer them.
void SessionState::give_up_compiling(const Status& reason) {
  for (auto& [key, compilation] : std::exchange(compilations, {}))
    for (auto& waiting : std::exchange(compilation->waiting, {})) waiting.handler(reason);
}

Answer<wire::CloseSessionResponse> SessionState::close() {
  auto promise = self->make_response_promise<Parcel<wire::CloseSessionResponse>>();
  close_promises.push_back(promise);
  if (closing) return promise;
  closing = true;
  const Status reason = cancelled("Step was cancelled by an explicit call to `Session::Close()`.");
  give_up_compiling(reason);
  cancel_steps(reason);
  if (running.empty()) finish_closing();
  return promise;
}

void SessionState::evict(const Evict& message) {
  closing = true;
  give_up_compiling(message.reason);
  cancel_steps(message.reason);
  if (!ready && opening_call) opening.deliver(to_caf(message.reason));
  if (running.empty()) finish_closing();
}

void SessionState::finish_closing() {
  if (std::exchange(closed, true)) return;
  for (const auto& [task, worker] : tasks) {
    auto request = pack<wire::DeleteWorkerSessionRequest>();
    request->set_session_handle(handle);
    self->request(worker, caf::infinite, std::move(request)).then([](Asked<wire::DeleteWorkerSessionResponse>&) {}, [](caf::error&) {});
  }
  for (auto& promise : close_promises) promise.deliver(pack<wire::CloseSessionResponse>());
  close_promises.clear();
  self->quit();
}

void SessionState::step_over(std::int64_t step_id) {
  running.erase(step_id);
  std::erase_if(partials, [&](const auto& entry) { return entry.second.step_id == step_id; });
  if (closing && running.empty()) finish_closing();
}

void SessionState::cancel(const CancelCall& message) {
  if (message.call == 0) return;
  if (message.call == opening_call) {
    std::string who;
    for (const auto& [task, why] : silence)
      if (unanswered.contains(task)) who += fmt::format(" {} does not answer: {}", task, text_of(why));
    return fail_opening(make_status(message.reason.code(), text_of(message.reason) + (who.empty() ? "" : "; waited for other tasks:" + who)));
  }
  const auto steps = running;
  for (const auto& [id, running_step] : steps)
    if (running_step.call == message.call) running_step.step->cancel(message.reason);
  for (auto& [key, compilation] : compilations) {
    auto& waiting = compilation->waiting;
    auto found = std::find_if(waiting.begin(), waiting.end(), [&](const auto& w) { return w.call == message.call; });
    if (found == waiting.end()) continue;
    auto handler = std::move(found->handler);
    waiting.erase(found);
    return handler(message.reason);
  }
}

Status SessionState::ready_to_run() const {
  if (closing) return failed_precondition("Session is closed.");
  if (!ready) return failed_precondition("Session {} is not open yet.", handle);
  return absl::OkStatus();
}

namespace {

Session::behavior_type session(Session::stateful_pointer<SessionState> self, std::shared_ptr<const Surroundings> around, std::string handle) {
  self->state.self = self;
  self->state.around = std::move(around);
  self->state.handle = std::move(handle);
  return {
      [=](Asked<wire::RunStepRequest>& r) { return self->state.run(r); },
      [=](Asked<wire::CreateSessionRequest>& r) { return self->state.create(r); },
      [=](Asked<wire::ExtendSessionRequest>& r) { return self->state.extend(r); },
      [=](Asked<wire::PartialRunSetupRequest>& r) { return self->state.set_up_partial(r); },
      [=](Asked<wire::CloseSessionRequest>&) { return self->state.close(); },
      [=](Asked<wire::ListDevicesRequest>&) { return self->state.list_devices(); },
      [=](Asked<wire::MakeCallableRequest>& r) { return self->state.make_callable(r); },
      [=](Asked<wire::RunCallableRequest>& r) { return self->state.run_callable(r); },
      [=](Asked<wire::ReleaseCallableRequest>& r) { return self->state.release_callable(r); },
      [=](const CancelCall& message) { self->state.cancel(message); },
      [=](const Evict& message) { self->state.evict(message); },
      [=](const AskAgain& message) { self->state.ask_status(message.task); },
  };
}

}  // namespace

Session spawn_session(caf::actor_system& system, std::shared_ptr<const Surroundings> surroundings, std::string handle) {
  return system.spawn(session, std::move(surroundings), std::move(handle));
}

}  // namespace troupe
