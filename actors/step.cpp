// The step actor.
#include <troupe/actors/step.hpp>

#include <troupe/messaging/caf_status.hpp>

#include <absl/status/status.h>

namespace troupe {
namespace {

constexpr const char* rule = "=====================";

std::string code_name(Code code) { return absl::StatusCodeToString(code); }

/// One root cause speaks for itself; several are listed.
Status merge_failures(const std::vector<Status>& failures) {
  std::vector<const Status*> roots;
  for (const Status& status : failures)
    if (!is_derived(status)) roots.push_back(&status);
  if (roots.empty()) return failures.front();
  if (roots.size() == 1) return *roots.front();
  std::string text = std::string(rule) + "\n";
  for (const Status* status : roots) text += code_name(status->code()) + ": " + text_of(*status) + "\n";
  return append_text(make_status(roots.front()->code(), ""), text + rule);
}

struct StepState {
  StepActor::pointer self = nullptr;
  StepWatcher session;
  std::shared_ptr<const CompiledStep> compiled;
  std::int64_t step_id = 0;
  bool started = false, over = false;
  bool local_is_clean = false;
  std::size_t running = 0;
  std::vector<Status> failures;
  Status cancelled_because;
  std::vector<std::pair<Worker, std::uint64_t>> calls;
  wire::RunMetadata metadata;
  wire::RunOptions options;

  // What the client waits for now.
  caf::typed_response_promise<Parcel<RunStepResponse>> promise;
  bool waiting = false, last = false;
  Parcel<RunStepResponse> reply;
  std::size_t local_calls = 0;

  caf::result<Parcel<RunStepResponse>> take(Parcel<StepOrder>& order) {
    promise = self->make_response_promise<Parcel<RunStepResponse>>();
    reply = pack<RunStepResponse>();
    waiting = true;
    last = order->last;
    if (!started) {
      started = true;
      compiled = order->compiled;
      step_id = order->step_id;
      options = order->options;
      for (const auto& part : compiled->parts)
        if (!part.local) send(part, request_for(part, *order, false), false);
    }
    bool has_local = false;
    for (const auto& part : compiled->parts) {
      if (!part.local) continue;
      has_local = true;
      auto request = request_for(part, *order, order->partial);
      for (auto& feed : order->feeds)
        if (auto key = compiled->feed_keys.find(feed.name); key != compiled->feed_keys.end())
          request->sends.push_back({key->second, std::move(feed.tensor)});
      for (const auto& fetch : order->fetches) request->receive_keys.push_back(compiled->fetch_keys.at(fetch));
      request->is_last_partial_run = order->partial && order->last;
      send(part, std::move(request), true);
    }
    if (!has_local && running == 0) finish();
    return promise;
  }

  Parcel<RunGraphRequest> request_for(const CompiledStep::Part& part, const StepOrder& order, bool partial) {
    auto request = pack<RunGraphRequest>();
    request->session_handle = compiled->session_handle;
    request->create_worker_session_called = true;
    request->graph_handle = part.graph_handle;
    request->step_id = step_id;
    request->is_partial = partial;
    request->store_errors_in_response_body = true;
    request->request_id = part.local ? 0 : random_request_id();  // within the process nothing comes twice
    const bool trace = order.options.trace_level() == wire::RunOptions::FULL_TRACE;
    request->options.set_record_timeline(trace);
    request->options.set_record_costs(trace);
    request->options.set_record_partition_graphs(order.options.output_partition_graphs());
    request.call = next_call_number();
    return request;
  }

  void send(const CompiledStep::Part& part, Parcel<RunGraphRequest> request, bool local) {
    ++running;
    if (local) ++local_calls;
    calls.emplace_back(part.worker, request.call);
    self->request(part.worker, caf::infinite, std::move(request))
        .then(
            [this, local, task = part.task](Parcel<RunGraphResponse>& response) {
              if (local) {
                --local_calls;
                local_is_clean = response->left_nothing;
              }
              arrived(task, response->status, *response);
            },
            [this, local, task = part.task](caf::error& error) {
              RunGraphResponse none;
              if (local) --local_calls;
              arrived(task, from_caf(error), none);
            });
  }

  void arrived(const std::string& task, const Status& status, RunGraphResponse& response) {
    --running;
    if (!status.ok()) {
      Status failed = prepend_text(fmt::format("From {}:\n", task), status);
      // Who answers that it was cancelled after we cancelled it has no cause of its own.
      const bool our_doing = (!failures.empty() || !cancelled_because.ok()) && status.code() == Code::kCancelled;
      fail(our_doing ? as_derived(std::move(failed)) : std::move(failed));
    }
    for (auto& tensor : response.received) reply->tensors.push_back(std::move(tensor));
    for (auto& stats : *response.step_stats.mutable_dev_stats()) metadata.mutable_step_stats()->add_dev_stats()->Swap(&stats);
    for (auto& graph : response.partition_graphs) metadata.add_partition_graphs()->Swap(&graph);
    // A piece of a partial run is answered by the master's own partition alone.
    if (waiting && !last && local_calls == 0 && failures.empty()) return answer();
    if (running == 0) finish();
  }

  void fail(Status status) {
    const bool first = failures.empty();
    failures.push_back(std::move(status));
    if (first) cancel_calls(as_derived(cancelled("Step was cancelled: {}", text_of(failures.front()))));
  }

  void cancel_calls(const Status& reason) {
    for (const auto& [worker, call] : calls) self->send(worker, CancelCall{call, reason});
  }

  void cancel(const CancelCall& message) {
    if (over || !cancelled_because.ok()) return;
    cancelled_because = message.reason;
    cancel_calls(as_derived(message.reason));
    if (running == 0) finish();
  }

  void answer() {
    waiting = false;
    if (!cancelled_because.ok()) promise.deliver(to_caf(cancelled_because));
    else if (!failures.empty()) promise.deliver(to_caf(merge_failures(failures)));
    else {
      for (auto& tensor : reply->tensors)
        for (const auto& [name, key] : compiled->fetch_keys)
          if (key == tensor.name) {
            tensor.name = name;
            break;
          }
      if (last) reply->metadata = std::move(metadata);
      promise.deliver(std::move(reply));
    }
  }

  /// All partitions have answered.
  void finish() {
    if (over) return;
    if (waiting && (last || !failures.empty() || !cancelled_because.ok())) answer();
    if (!last && failures.empty() && cancelled_because.ok()) return;  // a partial run goes on
    over = true;
    if (compiled) clean_up();
    self->send(session, StepOver{step_id});
    self->quit();
  }

  void clean_up() {
    Asked<wire::CleanupGraphRequest> request;
    for (const auto& part : compiled->parts) {
      if (part.local && local_is_clean) continue;
      if (!request.content) {
        request = pack<wire::CleanupGraphRequest>();
        request->set_step_id(step_id);
      }
      self->request(part.worker, caf::infinite, request).then([](Asked<wire::CleanupGraphResponse>&) {}, [](caf::error&) {});
    }
  }
};

StepActor::behavior_type step(StepActor::stateful_pointer<StepState> self, StepWatcher session) {
  self->state.self = self;
  self->state.session = std::move(session);
  return {
      [=](Parcel<StepOrder>& order) { return self->state.take(order); },
      [=](const CancelCall& message) { self->state.cancel(message); },
  };
}

}  // namespace

CompiledStep::~CompiledStep() {
  for (const Part& part : parts) {
    if (part.graph_handle.empty()) continue;
    auto request = pack<wire::DeregisterGraphRequest>();
    request->set_session_handle(session_handle);
    request->set_create_worker_session_called(true);
    request->set_graph_handle(part.graph_handle);
    caf::anon_send(part.worker, std::move(request));
  }
}

StepActor spawn_step(caf::actor_system& system, StepWatcher session) { return system.spawn(step, std::move(session)); }

}  // namespace troupe
