// The worker actor's table of contents, and its sessions.
#include <troupe/actors/worker.hpp>

#include <troupe/actors/aside.hpp>
#include <troupe/actors/plan/watches.hpp>
#include <troupe/actors/worker_state.hpp>
#include <troupe/config/device_name.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/ops/logging/debug_publishing.hpp>

#include <spdlog/spdlog.h>

namespace troupe {

Answer<wire::GetStatusResponse> WorkerState::get_status(const wire::GetStatusRequest&) {
  auto reply = pack<wire::GetStatusResponse>();
  for (const auto& attributes : parts.attributes) *reply->add_device_attributes() = attributes;
  return reply;
}

Answer<wire::CreateWorkerSessionResponse> WorkerState::create_session(const wire::CreateWorkerSessionRequest& request) {
  auto session = std::make_shared<WorkerSession>();
  auto facts = std::make_shared<SessionFacts>();
  facts->name = std::make_shared<const std::string>(request.session_handle());
  if (request.isolate_session_state()) facts->store = *facts->name;
  facts->task = parts.task;
  facts->peers = parts.peers;
  session->master_task = request.master_task();
  if (const auto master = parse_device(session->master_task); master.ok() && master->job && master->task)
    facts->worker = fmt::format("/job:{}/task:{}", *master->job, *master->task);
  session->master_incarnation = static_cast<std::uint64_t>(request.master_incarnation());
  if (!session->master_task.empty())
    std::erase_if(sessions, [&](const auto& entry) {
      const auto& old = *entry.second;
      if (old.master_task != session->master_task || old.master_incarnation == session->master_incarnation) return false;
      forget_session(*old.facts);
      return true;
    });
  if (request.server_def().cluster().job_size() > 0) {
    facts->task = task_name(request.server_def().job_name(), request.server_def().task_index());
    facts->peers = parts.join_cluster(request.server_def());
  }
  session->facts = std::move(facts);
  sessions[request.session_handle()] = std::move(session);
  return pack<wire::CreateWorkerSessionResponse>();
}

Answer<wire::DeleteWorkerSessionResponse> WorkerState::delete_session(const wire::DeleteWorkerSessionRequest& request) {
  if (auto found = sessions.find(request.session_handle()); found != sessions.end()) {
    const SessionFacts& facts = *found->second->facts;
    if (!facts.store.empty())
      for (const auto& device : parts.devices) self->send(device, EraseStore{facts.store});
    forget_session(facts);
    sessions.erase(found);
  }
  return pack<wire::DeleteWorkerSessionResponse>();
}

/// Tensors of its steps that nobody came for go with it.
void WorkerState::forget_session(const SessionFacts& session) {
  self->send(parts.rendezvous, ForgetSession{*session.name});
  self->send(parts.inbox, ForgetSession{*session.name});
  if (session.peers)
    for (const auto& [task, peer] : *session.peers) self->send(peer, ForgetSession{*session.name});
}

StatusOr<WorkerSession*> WorkerState::find_session(const std::string& handle, bool created) {
  if (!created) {
    if (!legacy.facts) legacy.facts = std::make_shared<const SessionFacts>(SessionFacts{nullptr, parts.task, {}, {}, parts.peers});
    return &legacy;
  }
  auto found = sessions.find(handle);
  if (found != sessions.end()) return found->second.get();
  return as_possibly_restarted(aborted("Session handle is not found: {}. Possibly this worker (\"{}\") just restarted.", handle, parts.task));
}

StatusOr<std::shared_ptr<RegisteredGraph>> WorkerState::compile(WorkerSession& session, const wire::GraphDef& graph_def,
                                                                const wire::DebugOptions& debug) {
  auto library = std::make_shared<const FunctionLibrary>(graph_def.library());
  std::map<std::string, wire::GraphDef> by_device;
  for (const auto& node : graph_def.node()) *by_device[node.device()].add_node() = node;
  auto registered = std::make_shared<RegisteredGraph>();
  registered->graph_def = graph_def;
  const auto urls = debug_urls(debug);
  if (!urls.empty()) registered->graph_def.clear_node();
  for (auto& [device, nodes] : by_device) {
    std::size_t at = 0;
    while (at < parts.attributes.size() && rename_task(parts.attributes[at].name(), session.facts->task) != device) ++at;
    if (at == parts.attributes.size()) return invalid("{} unknown device.", device);
    *nodes.mutable_versions() = graph_def.versions();
    TRY_ASSIGN(Graph graph, Graph::from(nodes, library));
    for (Node& node : graph.nodes()) node.device = device;
    if (!urls.empty()) {
      TRY(insert_watches(graph, debug, device));
      wire::GraphDef watched = graph.to_graph_def();
      registered->watched.emplace_back(device, watched.SerializeAsString());
      for (auto& node : *watched.mutable_node()) registered->graph_def.add_node()->Swap(&node);
    }
    TRY_ASSIGN(auto plan, Plan::compile(graph, all_kernels(), session.kernels));
    registered->parts.push_back({at, device, std::move(plan)});
  }
  return registered;
}

Answer<wire::RegisterGraphResponse> WorkerState::register_graph(const wire::RegisterGraphRequest& request) {
  auto session = find_session(request.session_handle(), request.create_worker_session_called());
  if (!session.ok()) return to_caf(session.status());
  auto graph = compile(**session, request.graph_def(), request.debug_options());
  if (!graph.ok()) return to_caf(graph.status());
  const auto urls = debug_urls(request.debug_options());
  auto publish = [urls, watched = std::exchange((*graph)->watched, {})]() -> Status {
    for (const auto& [device, nodes] : watched) TRY(publish_graph(device, nodes, urls));
    return absl::OkStatus();
  };
  auto add = [](WorkerSession& to, std::shared_ptr<RegisteredGraph> added) {
    auto reply = pack<wire::RegisterGraphResponse>();
    reply->set_graph_handle(fmt::format("{:016x}", ++to.next_graph));
    to.graphs[reply->graph_handle()] = std::move(added);
    return reply;
  };
  if (!waits_for_servers(urls)) {
    if (Status status = publish(); !status.ok()) return to_caf(status);
    return add(**session, *std::move(graph));
  }
  auto promise = self->make_response_promise<Parcel<wire::RegisterGraphResponse>>();
  const std::string handle = request.session_handle();
  const bool created = request.create_worker_session_called();
  aside(self, std::move(publish), [this, add, handle, created, promise, graph = *graph](Status status) mutable {
    auto found = find_session(handle, created);
    if (status.ok()) status = found.status();
    if (status.ok()) promise.deliver(add(**found, graph));
    else promise.deliver(to_caf(status));
  });
  return promise;
}

Answer<wire::DeregisterGraphResponse> WorkerState::deregister_graph(const wire::DeregisterGraphRequest& request) {
  auto session = find_session(request.session_handle(), request.create_worker_session_called());
  if (!session.ok()) return to_caf(session.status());
  if ((*session)->graphs.erase(request.graph_handle()) == 0)
    return to_caf(aborted("Graph handle is not found: {}. Possibly, this worker just restarted.", request.graph_handle()));
  return pack<wire::DeregisterGraphResponse>();
}

Answer<wire::CleanupGraphResponse> WorkerState::cleanup_graph(const wire::CleanupGraphRequest& request) {
  self->send(parts.rendezvous, ForgetStep{request.step_id()});
  self->send(parts.inbox, ForgetStep{request.step_id()});
  for (const auto& device : parts.devices) self->send(device, ForgetStep{request.step_id()});
  if (auto run = partial_runs.find(request.step_id()); run != partial_runs.end()) {
    // Its next piece will not come.
    stop_partial(*run->second, as_derived(cancelled("Step {} was cleaned up.", request.step_id())));
    partial_runs.erase(run);
  }
  return pack<wire::CleanupGraphResponse>();
}

Answer<wire::CleanupAllResponse> WorkerState::cleanup_all(const wire::CleanupAllRequest& request) {
  EraseContainers erase;
  for (const auto& container : request.container()) erase.containers.push_back(container);
  for (const auto& device : parts.devices) self->send(device, erase);
  return pack<wire::CleanupAllResponse>();
}

Answer<wire::GetStepSequenceResponse> WorkerState::step_sequence(const wire::GetStepSequenceRequest& request) {
  auto reply = pack<wire::GetStepSequenceResponse>();
  for (std::int64_t key : request.graph_key()) {
    auto& next = step_sequences.try_emplace(std::to_string(key), static_cast<std::int64_t>(next_call_number() & 0xffffff)).first->second;
    auto* sequence = reply->add_step_sequence();
    sequence->set_graph_key(key);
    sequence->set_next_step_id(next++);
  }
  return reply;
}

namespace {

template <class Wire>
Answer<Wire> not_served(const char* what) {
  return to_caf(unimplemented("{}", what));
}

Worker::behavior_type worker(Worker::stateful_pointer<WorkerState> self, WorkerParts parts) {
  self->state.self = self;
  self->state.parts = std::move(parts);
  return {
      // CAF compares a message with one row after the other: what steps are made of comes first.
      [=](Asked<wire::RunGraphRequest>& r) { return self->state.run_graph(r); },
      [=](Asked<wire::CleanupGraphRequest>& r) { return self->state.cleanup_graph(*r); },
      [=](Asked<wire::RecvTensorRequest>& r) { return self->state.receive(r); },
      [=](const CancelCall& message) { self->state.cancel(message); },
      [=](Asked<wire::GetStatusRequest>& r) { return self->state.get_status(*r); },
      [=](Asked<wire::CreateWorkerSessionRequest>& r) { return self->state.create_session(*r); },
      [=](Asked<wire::DeleteWorkerSessionRequest>& r) { return self->state.delete_session(*r); },
      [=](Asked<wire::RegisterGraphRequest>& r) { return self->state.register_graph(*r); },
      [=](Asked<wire::DeregisterGraphRequest>& r) { return self->state.deregister_graph(*r); },
      [=](Asked<wire::CleanupAllRequest>& r) { return self->state.cleanup_all(*r); },
      [=](Asked<wire::MarkRecvFinishedRequest>&) -> Answer<wire::MarkRecvFinishedResponse> { return pack<wire::MarkRecvFinishedResponse>(); },
      [=](Asked<wire::LoggingRequest>&) -> Answer<wire::LoggingResponse> { return pack<wire::LoggingResponse>(); },
      [=](Asked<wire::TracingRequest>&) { return not_served<wire::TracingResponse>("Tracing"); },
      [=](Asked<wire::RecvBufRequest>&) {
        return not_served<wire::RecvBufResponse>("Collective operations are not served by this node yet (RecvBuf)");
      },
      [=](Asked<wire::GetStepSequenceRequest>& r) { return self->state.step_sequence(*r); },
      [=](Asked<wire::CompleteGroupRequest>&) {
        return not_served<wire::CompleteGroupResponse>("Collective operations are not served by this node yet (CompleteGroup)");
      },
      [=](Asked<wire::CompleteInstanceRequest>&) {
        return not_served<wire::CompleteInstanceResponse>("Collective operations are not served by this node yet (CompleteInstance)");
      },
  };
}

}  // namespace

Worker spawn_worker(caf::actor_system& system, WorkerParts parts) { return system.spawn(worker, std::move(parts)); }

}  // namespace troupe
