// Runs of registered graphs, whole and partial, and the tensors that other tasks fetch.
#include <troupe/actors/worker_state.hpp>

#include <troupe/config/device_name.hpp>
#include <troupe/messaging/caf_status.hpp>

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

void keep_root_cause(Status& kept, const Status& next) {
  if (kept.ok() || (is_derived(kept) && !is_derived(next))) kept = next;
}

}  // namespace

Answer<wire::RunGraphResponse> WorkerState::run_graph(Parcel<RunGraphRequest>& request) {
  if (!recent.remember(request->request_id))
    return to_caf(
        aborted("The same RunGraph (Worker) request was received twice. step_id: {} request_id: {}", request->step_id, request->request_id));
  auto session = find_session(request->session_handle, request->create_worker_session_called);
  if (!session.ok()) return to_caf(session.status());
  auto graph = (*session)->graphs.find(request->graph_handle);
  if (graph == (*session)->graphs.end()) return to_caf(aborted("Graph handle is not found: {}", request->graph_handle));
  if (request->is_partial) return run_partial(request, **session, graph->second);
  return start(request, **session, graph->second);
}

Parcel<RunPlan> WorkerState::run_of(const RegisteredGraph::Part& part, const WorkerSession& session, std::int64_t step) {
  auto run = pack<RunPlan>();
  run->plan = part.plan;
  run->session = session.facts;
  run->device = part.name;
  run->step = step;
  return run;
}

/// A run that waits for all its devices, and keeps the first root cause.
struct WorkerState::Gathering {
  std::size_t left = 0;
  Status status;
  Parcel<RunGraphResponse> reply = pack<RunGraphResponse>();
  caf::typed_response_promise<Parcel<RunGraphResponse>> promise;
  std::int64_t step = 0;
  std::shared_ptr<const RegisteredGraph> graph;
  std::shared_ptr<const SessionFacts> session;
  bool with_graph = false;  // the answer is to show it
};

Answer<wire::RunGraphResponse> WorkerState::start(Parcel<RunGraphRequest>& request, WorkerSession& session, std::shared_ptr<RegisteredGraph> graph) {
  const bool with_graph = request->options->record_partition_graphs();
  auto plan_for = [&](const RegisteredGraph::Part& part) {
    auto plan = run_of(part, session, request->step_id);
    plan->record = request->options->record_timeline();
    // Feeds enter on the client's device, which is the first one.
    if (&part == graph->parts.data()) plan->feeds = std::move(request->sends);
    plan.call = request.call;
    return plan;
  };
  if (graph->parts.size() == 1 && !with_graph) {
    auto plan = plan_for(graph->parts.front());
    plan->alone = true;
    return self->delegate(parts.devices[graph->parts.front().device], std::move(plan));
  }
  auto run = std::make_shared<Gathering>();
  run->left = std::max<std::size_t>(1, graph->parts.size());
  run->promise = self->make_response_promise<Parcel<RunGraphResponse>>();
  run->step = request->step_id;
  run->session = session.facts;
  run->with_graph = with_graph;
  run->graph = graph;
  run->reply->left_nothing = true;
  for (const auto& part : graph->parts)
    self->request(parts.devices[part.device], caf::infinite, plan_for(part))
        .then(
            [this, run](Parcel<RunGraphResponse>& done) {
              for (auto& tensor : done->received) run->reply->received.push_back(std::move(tensor));
              if (!done->step_stats.untouched())
                for (auto& stats : *done->step_stats.edit().mutable_dev_stats())
                  if (stats.node_stats_size() > 0) run->reply->step_stats.edit().add_dev_stats()->Swap(&stats);
              run->reply->left_nothing &= done->left_nothing;
              gathered(*run);
            },
            [this, run, call = request.call](caf::error& error) {
              const Status status = from_caf(error);
              keep_root_cause(run->status, status);
              // The first error of a step wins and cancels the rest.
              cancel(CancelCall{call, as_derived(status)});
              gathered(*run);
            });
  const auto promise = run->promise;
  if (graph->parts.empty()) gathered(*run);
  return promise;
}

void WorkerState::gathered(Gathering& run) {
  if (--run.left > 0) return;
  if (!run.status.ok()) {
    // Tasks that wait for this step's tensors learn why they will not come.
    self->send(parts.rendezvous, AbortStep{run.step, run.status, run.session->name_or_empty()});
    run.promise.deliver(to_caf(run.status));
    return;
  }
  if (run.with_graph) run.reply->partition_graphs.push_back(run.graph->graph_def);
  run.promise.deliver(run.reply);
}

Answer<wire::RunGraphResponse> WorkerState::run_partial(Parcel<RunGraphRequest>& request, WorkerSession& session,
                                                        std::shared_ptr<RegisteredGraph> graph) {
  auto promise = self->make_response_promise<Parcel<RunGraphResponse>>();
  const std::int64_t step = request->step_id;
  auto& slot = partial_runs[step];
  if (!slot) {
    slot = std::make_shared<PartialRun>();
    slot->graph = graph;
    auto run = slot;
    auto left = std::make_shared<std::size_t>(graph->parts.size());
    for (const auto& part : graph->parts) {
      auto plan = run_of(part, session, step);
      plan->partial = true;
      plan.call = next_call_number();
      run->calls.emplace_back(part.device, plan.call);
      auto ended = [this, run, left, step, session = session.facts](const Status& status) {
        if (!status.ok()) {
          keep_root_cause(run->status, status);
          if (partial_runs.contains(step)) self->send(parts.rendezvous, AbortStep{step, status, session->name_or_empty()});
        }
        if (--*left > 0) return;
        run->over = true;
        for (auto& waiting : run->waiting_for_end) {
          if (run->status.ok()) waiting.deliver(run->last);
          else waiting.deliver(to_caf(run->status));
        }
        run->waiting_for_end.clear();
      };
      self->request(parts.devices[part.device], caf::infinite, std::move(plan))
          .then([ended](Parcel<RunGraphResponse>&) { ended(absl::OkStatus()); }, [ended](caf::error& error) { ended(from_caf(error)); });
    }
  }
  auto run = slot;
  auto more = pack<FeedMore>();
  more->step = step;
  more->feeds = std::move(request->sends);
  more->fetches = request->receive_keys;
  const bool last = request->is_last_partial_run;
  const std::uint64_t call = request.call;
  pieces[call] = run;
  self->request(parts.devices[graph->parts.front().device], caf::infinite, std::move(more))
      .then(
          [this, run, promise, last, call](Parcel<Fetched>& fetched) mutable {
            pieces.erase(call);
            auto reply = pack<RunGraphResponse>();
            reply->received = std::move(fetched->tensors);
            if (!last) {
              promise.deliver(reply);
              return;
            }
            run->last = reply;
            if (!run->over) {
              run->waiting_for_end.push_back(promise);
              return;
            }
            if (run->status.ok()) promise.deliver(reply);
            else promise.deliver(to_caf(run->status));
          },
          [this, run, promise, call](caf::error& error) mutable {
            // The run may not have said yet why it fails.
            pieces.erase(call);
            const Status status = from_caf(error);
            keep_root_cause(run->status, status);
            if (run->over) {
              promise.deliver(to_caf(run->status));
              return;
            }
            run->waiting_for_end.push_back(promise);
            stop_partial(*run, as_derived(status));
          });
  return promise;
}

void WorkerState::stop_partial(const PartialRun& run, const Status& reason) {
  if (run.over) return;
  for (auto [device, call] : run.calls) self->send(parts.devices[device], CancelCall{call, reason});
}

Status WorkerState::check_key(const std::string& key) const {
  std::vector<std::string_view> pieces;
  for (std::string_view rest = key;;) {
    const auto at = rest.find(';');
    pieces.push_back(rest.substr(0, at));
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + 1);
  }
  std::uint64_t incarnation = 0;
  if (pieces.size() != 5 || std::from_chars(pieces[1].data(), pieces[1].data() + pieces[1].size(), incarnation, 16).ec != std::errc())
    return invalid("Invalid  rendezvous key: {}", key);
  for (const auto& device : parts.attributes) {
    // A session may know this task by another name.
    if (local_part(device.name()) != local_part(pieces[0])) continue;
    if (incarnation == 0 || incarnation == device.incarnation()) return absl::OkStatus();
    return as_possibly_restarted(
        aborted("RecvTensor expects a different device incarnation: {} vs. {}. Your worker job (\"{}\") was probably restarted. Check your worker "
                "job for the "
                "reason why it was restarted.",
                incarnation, device.incarnation(), parts.task));
  }
  return not_found("{} unknown device.", pieces[0]);
}

Answer<wire::RecvTensorResponse> WorkerState::receive(Parcel<RecvTensorRequest>& request) {
  if (!recent.remember(request->request_id))
    return to_caf(aborted("The same RecvTensor (Worker) request was received twice. step_id: {} rendezvous_key: \"{}\" request_id: {}",
                          request->step_id, request->rendezvous_key, request->request_id));
  if (Status status = check_key(request->rendezvous_key); !status.ok()) return to_caf(status);
  return self->delegate(parts.rendezvous, std::move(request));
}

void WorkerState::cancel(const CancelCall& message) {
  if (auto piece = pieces.find(message.call); piece != pieces.end()) return stop_partial(*piece->second, message.reason);
  // A run on devices, or a tensor waited for at the rendezvous; the number tells by being known.
  self->send(parts.rendezvous, message);
  for (const auto& device : parts.devices) self->send(device, message);
}

}  // namespace troupe
