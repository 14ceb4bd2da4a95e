// Steps: parts sent, answers gathered, the rest cancelled when one fails.
#include <troupe/actors/step.hpp>

#include <absl/status/status.h>

#include <utility>

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

}  // namespace

void SessionStep::take(StepOrder& order, Answered answered) {
  answered_ = std::move(answered);
  reply_ = pack<RunStepResponse>();
  last_ = order.last;
  ++running_;  // not over before all is sent, should answers come at once
  if (!compiled_) {
    compiled_ = order.compiled;
    step_id_ = order.step_id;
    for (const auto& part : compiled_->parts)
      if (!part.local) send(part, request_for(part, order, false));
  }
  for (const auto& part : compiled_->parts) {
    if (!part.local) continue;
    auto request = request_for(part, order, order.partial);
    for (auto& feed : order.feeds)
      if (auto key = compiled_->feed_keys.find(feed.name); key != compiled_->feed_keys.end())
        request->sends.push_back({key->second, std::move(feed.tensor)});
    for (const auto& fetch : order.fetches) request->receive_keys.push_back(compiled_->fetch_keys.at(fetch));
    request->is_last_partial_run = order.partial && order.last;
    send(part, std::move(request));
  }
  if (--running_ == 0) finish();
}

Parcel<RunGraphRequest> SessionStep::request_for(const CompiledStep::Part& part, const StepOrder& order, bool partial) const {
  auto request = pack<RunGraphRequest>();
  request->session_handle = compiled_->session_handle;
  request->create_worker_session_called = true;
  request->graph_handle = part.graph_handle;
  request->step_id = step_id_;
  request->is_partial = partial;
  request->store_errors_in_response_body = true;
  request->request_id = part.local ? 0 : random_request_id();  // within the process nothing comes twice
  if (order.options->trace_level() == wire::RunOptions::FULL_TRACE) {
    request->options.edit().set_record_timeline(true);
    request->options.edit().set_record_costs(true);
  }
  if (order.options->output_partition_graphs()) request->options.edit().set_record_partition_graphs(true);
  request.call = next_call_number();
  return request;
}

void SessionStep::send(const CompiledStep::Part& part, Parcel<RunGraphRequest> request) {
  ++running_;
  if (part.local) ++local_calls_;
  calls_.emplace_back(part.worker, request.call);
  host_.run(part, std::move(request), shared_from_this());
}

void SessionStep::arrived(const CompiledStep::Part& part, StatusOr<Parcel<RunGraphResponse>> response) {
  --running_;
  if (part.local) --local_calls_;
  const Status status = response.ok() ? (*response)->status : response.status();
  if (!status.ok()) {
    Status failed = prepend_text(fmt::format("From {}:\n", part.task), status);
    // Who answers that it was cancelled after we cancelled it has no cause of its own.
    const bool our_doing = (!failures_.empty() || !cancelled_because_.ok()) && status.code() == Code::kCancelled;
    fail(our_doing ? as_derived(std::move(failed)) : std::move(failed));
  }
  if (response.ok()) {
    if (part.local) local_is_clean_ = (*response)->left_nothing;
    gather(**response);
  }
  // A piece of a partial run is answered by the master's own partition alone.
  if (answered_ && !last_ && local_calls_ == 0 && failures_.empty()) return answer();
  if (running_ == 0) finish();
}

void SessionStep::gather(RunGraphResponse& response) {
  for (auto& tensor : response.received) reply_->tensors.push_back(std::move(tensor));
  if (!response.step_stats.untouched())
    for (auto& stats : *response.step_stats.edit().mutable_dev_stats()) metadata_.edit().mutable_step_stats()->add_dev_stats()->Swap(&stats);
  for (auto& graph : response.partition_graphs) metadata_.edit().add_partition_graphs()->Swap(&graph);
}

void SessionStep::fail(Status status) {
  const bool first = failures_.empty();
  failures_.push_back(std::move(status));
  if (first) cancel_calls(as_derived(cancelled("Step was cancelled: {}", text_of(failures_.front()))));
}

void SessionStep::cancel_calls(const Status& reason) const {
  for (const auto& [worker, call] : calls_) caf::anon_send(worker, CancelCall{call, reason});
}

void SessionStep::cancel(const Status& reason) {
  if (over_ || !cancelled_because_.ok()) return;
  cancelled_because_ = reason;
  cancel_calls(as_derived(reason));
  if (running_ == 0) finish();
}

void SessionStep::answer() {
  const Answered answered = std::exchange(answered_, nullptr);
  if (!cancelled_because_.ok()) return answered(cancelled_because_);
  if (!failures_.empty()) return answered(merge_failures(failures_));
  for (auto& tensor : reply_->tensors)
    for (const auto& [name, key] : compiled_->fetch_keys)
      if (key == tensor.name) {
        tensor.name = name;
        break;
      }
  if (last_) reply_->metadata = std::move(metadata_);
  answered(std::move(reply_));
}

/// All partitions have answered.
void SessionStep::finish() {
  if (over_) return;
  const bool goes_on = !last_ && failures_.empty() && cancelled_because_.ok();  // a partial run
  if (goes_on) return;
  if (answered_) answer();
  over_ = true;
  if (compiled_) clean_up();
  host_.step_over(step_id_);
}

void SessionStep::clean_up() const {
  Asked<wire::CleanupGraphRequest> request;
  for (const auto& part : compiled_->parts) {
    if (part.local && local_is_clean_) continue;
    if (!request.content) {
      request = pack<wire::CleanupGraphRequest>();
      request->set_step_id(step_id_);
    }
    caf::anon_send(part.worker, request);
  }
}

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

}  // namespace troupe
