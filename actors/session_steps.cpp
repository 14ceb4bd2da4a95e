// Steps of a session: compiled once per shape, then run; callables and partial runs.
#include <troupe/actors/session_state.hpp>

#include <troupe/actors/aside.hpp>
#include <troupe/actors/plan/near_constants.hpp>
#include <troupe/actors/plan/operands.hpp>
#include <troupe/actors/plan/partition.hpp>
#include <troupe/actors/plan/unread.hpp>
#include <troupe/actors/plan/watches.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/logging/debug_publishing.hpp>
#include <troupe/ops/lowering.hpp>

#include <algorithm>
#include <random>

namespace troupe {
namespace {

const std::string& name_of(const std::string& name) { return name; }
const std::string& name_of(const NamedTensor& feed) { return feed.name; }

/// Names in any order mean the same step.
template <class Named>
void append_names(std::string& key, const std::vector<Named>& names, char kind) {
  const auto earlier = [](const Named& a, const Named& b) { return name_of(a) < name_of(b); };
  if (!std::is_sorted(names.begin(), names.end(), earlier)) {
    std::vector<std::string> sorted;
    for (const Named& named : names) sorted.push_back(name_of(named));
    std::sort(sorted.begin(), sorted.end());
    return append_names(key, sorted, kind);
  }
  for (const Named& named : names) key.append(1, kind).append(name_of(named)).push_back('\n');
}

/// What tells steps of a session apart.
template <class Asked>
std::string key_of(std::int64_t version, const Asked& asked) {
  std::string key = std::to_string(version) + '\n';
  append_names(key, asked.feeds, '<');
  append_names(key, asked.fetches, '>');
  append_names(key, asked.targets, '=');
  return key;
}

/// What a debugger watches makes a step another one.
std::string key_of(std::int64_t version, const StepShape& shape, const wire::DebugOptions& debug) {
  std::string key = key_of(version, shape);
  for (const auto& [from, to] : shape.connections) key += "~" + from + "~" + to + "\n";
  debug.AppendToString(&key);
  return key;
}

Status nothing_asked() { return invalid("Must specify at least one target to fetch or execute."); }

StepShape shape_of(const wire::CallableOptions& options) {
  StepShape shape;
  shape.feeds.assign(options.feed().begin(), options.feed().end());
  shape.fetches.assign(options.fetch().begin(), options.fetch().end());
  shape.targets.assign(options.target().begin(), options.target().end());
  for (const auto& connection : options.tensor_connection()) shape.connections.emplace_back(connection.from_tensor(), connection.to_tensor());
  return shape;
}

SessionStep::Answered to_promise(RunPromise promise) {
  return [promise](StatusOr<Parcel<RunStepResponse>> reply) mutable {
    if (reply.ok()) promise.deliver(*std::move(reply));
    else promise.deliver(to_caf(reply.status()));
  };
}

/// A callable's fetches are positional.
Parcel<wire::RunCallableResponse> callable_reply(const std::vector<std::string>& fetches, RunStepResponse& step) {
  auto reply = pack<wire::RunCallableResponse>();
  for (const auto& fetch : fetches)
    for (const auto& tensor : step.tensors)
      if (tensor.name == fetch) {
        to_proto(tensor.tensor, reply->add_fetch());
        break;
      }
  if (!step.metadata.untouched()) reply->mutable_metadata()->Swap(&step.metadata.edit());
  return reply;
}

}  // namespace

std::int64_t random_step_id() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return static_cast<std::int64_t>(random() >> 7);
}

void SessionState::tell_debugger(const StepShape& shape, const wire::DebugOptions& debug, std::function<void(Status)> then) {
  const auto urls = debug_urls(debug);
  if (urls.empty()) return then(absl::OkStatus());
  const std::int64_t number = debugged[key_of(version, shape, debug)]++;
  auto publish = [urls, run = DebuggedRun{debug.global_step(), number, shape.feeds, shape.fetches, shape.targets}] { return publish_run(run, urls); };
  if (!waits_for_servers(urls)) return then(publish());
  aside(self, std::move(publish), [this, then = std::move(then)](Status status) {
    if (status.ok()) status = ready_to_run();
    then(std::move(status));
  });
}

void SessionState::compile(const StepShape& shape, const wire::DebugOptions& debug, std::uint64_t call, CompiledHandler handler) {
  auto& slot = compilations[key_of(version, shape, debug)];
  if (slot) {
    if (slot->done) return handler(std::shared_ptr<const CompiledStep>(slot->compiled));
    slot->waiting.push_back({call, std::move(handler)});
    return;
  }
  auto compilation = slot = std::make_shared<Compilation>();
  compilation->waiting.push_back({call, std::move(handler)});
  compilation->compiled = std::make_shared<CompiledStep>();
  compilation->compiled->session_handle = handle;
  const auto& client = client_device();
  for (const auto& feed : shape.feeds) compilation->compiled->feed_keys[feed] = client_key(client.name(), client.incarnation(), feed);
  for (const auto& fetch : shape.fetches) compilation->compiled->fetch_keys[fetch] = client_key(client.name(), client.incarnation(), fetch);
  auto parts = [&]() -> StatusOr<std::map<std::string, wire::GraphDef>> {
    TRY_ASSIGN(Graph step, cut_step(*graph, shape, client.name(), client.incarnation()));
    const bool optimized = leaves_out_unread(config.graph_options().rewrite_options(), graph->size());
    TRY(lower_functions(step, Callers::passed_by, optimized));
    if (optimized) {
      leave_out_unread(step, shape.targets);
      if (sorts_operands(config.graph_options().rewrite_options())) sort_operands(step);
    }
    TRY(place_all(step));
    if (optimized) TRY(bring_constants_near(step));
    return partition(
        std::move(step),
        [this](const std::string& device) {
          auto found = incarnations.find(device);
          return found == incarnations.end() ? 0 : found->second;
        },
        &name_counter);
  }();
  if (!parts.ok()) {
    compilation->status = parts.status();
    registered(compilation);
    std::erase_if(compilations, [&](const auto& entry) { return entry.second == compilation; });
    return;
  }
  register_parts(compilation, *std::move(parts), debug);
}

void SessionState::register_parts(std::shared_ptr<Compilation> compilation, std::map<std::string, wire::GraphDef> parts,
                                  const wire::DebugOptions& debug) {
  compilation->left = parts.size();
  if (parts.empty()) return registered(compilation);
  compilation->compiled->parts.reserve(parts.size());
  for (auto& [task, graph_def] : parts) {
    auto request = pack<wire::RegisterGraphRequest>();
    request->set_session_handle(handle);
    request->set_create_worker_session_called(true);
    request->mutable_graph_def()->Swap(&graph_def);
    *request->mutable_graph_options() = config.graph_options();
    *request->mutable_config_proto() = around->default_config;
    *request->mutable_debug_options() = debug;
    compilation->compiled->parts.push_back({task, tasks.at(task), "", task == this->task});
    const std::size_t at = compilation->compiled->parts.size() - 1;
    self->request(tasks.at(task), caf::infinite, std::move(request))
        .then(
            [this, compilation, at](Asked<wire::RegisterGraphResponse>& reply) {
              compilation->compiled->parts[at].graph_handle = reply->graph_handle();
              if (--compilation->left == 0) registered(compilation);
            },
            [this, compilation](caf::error& error) {
              compilation->status.Update(from_caf(error));
              if (--compilation->left == 0) registered(compilation);
            });
  }
}

void SessionState::registered(const std::shared_ptr<Compilation>& compilation) {
  compilation->done = compilation->status.ok();
  if (!compilation->done) std::erase_if(compilations, [&](const auto& entry) { return entry.second == compilation; });
  auto waiting = std::move(compilation->waiting);
  compilation->waiting.clear();
  for (auto& [call, handler] : waiting) {
    if (compilation->done) handler(std::shared_ptr<const CompiledStep>(compilation->compiled));
    else handler(compilation->status);
  }
}

void SessionState::start(std::shared_ptr<const CompiledStep> compiled, StepOrder& order, std::uint64_t call, SessionStep::Answered answered) {
  if (closing) return answered(cancelled("Step was cancelled by an explicit call to `Session::Close()`."));
  const auto step = std::make_shared<SessionStep>(*this);
  running[order.step_id] = {step, call};
  order.compiled = std::move(compiled);
  step->take(order, std::move(answered));
}

void SessionState::run(const CompiledStep::Part& part, Parcel<RunGraphRequest> request, std::shared_ptr<SessionStep> step) {
  self->request(part.worker, caf::infinite, std::move(request))
      .then([&part, step](Parcel<RunGraphResponse>& response) { step->arrived(part, std::move(response)); },
            [&part, step](caf::error& error) { step->arrived(part, from_caf(error)); });
}

void SessionState::cancel_steps(const Status& reason) {
  const auto steps = running;
  for (const auto& [id, running_step] : steps) running_step.step->cancel(reason);
}

Answer<wire::RunStepResponse> SessionState::run(Parcel<RunStepRequest>& request) {
  if (Status status = ready_to_run(); !status.ok()) return to_caf(status);
  if (!request->partial_run_handle.empty()) return run_partial(request);
  if (request->fetches.empty() && request->targets.empty()) return to_caf(nothing_asked());
  auto promise = self->make_response_promise<Parcel<RunStepResponse>>();
  auto start_it = [this, request, promise](std::shared_ptr<const CompiledStep> compiled) {
    StepOrder order;
    order.step_id = random_step_id();
    order.feeds = std::move(request->feeds);
    order.fetches = std::move(request->fetches);
    order.options = std::move(request->options);
    start(std::move(compiled), order, request.call, to_promise(promise));
  };
  const auto& debug = request->options->debug_options();
  if (!request->options->has_debug_options())
    if (const auto known = compilations.find(key_of(version, *request)); known != compilations.end() && known->second->done) {
      start_it(known->second->compiled);
      return promise;
    }
  StepShape shape;
  for (const auto& feed : request->feeds) shape.feeds.push_back(feed.name);
  shape.fetches = request->fetches;
  shape.targets = request->targets;
  auto go_on = [this, request, promise, start_it](const StepShape& of) mutable {
    compile(of, request->options->debug_options(), request.call, [promise, start_it](StatusOr<std::shared_ptr<const CompiledStep>> compiled) mutable {
      if (compiled.ok()) start_it(*std::move(compiled));
      else promise.deliver(to_caf(compiled.status()));
    });
  };
  if (debug.debug_tensor_watch_opts().empty()) go_on(shape);
  else
    tell_debugger(shape, debug, [go_on, shape, promise](Status told) mutable {
      if (told.ok()) go_on(shape);
      else promise.deliver(to_caf(told));
    });
  return promise;
}

Answer<wire::PartialRunSetupResponse> SessionState::set_up_partial(Asked<wire::PartialRunSetupRequest>& request) {
  if (Status status = ready_to_run(); !status.ok()) return to_caf(status);
  StepShape shape;
  shape.feeds.assign(request->feed().begin(), request->feed().end());
  shape.fetches.assign(request->fetch().begin(), request->fetch().end());
  shape.targets.assign(request->target().begin(), request->target().end());
  if (shape.fetches.empty() && shape.targets.empty()) return to_caf(nothing_asked());
  auto promise = self->make_response_promise<Parcel<wire::PartialRunSetupResponse>>();
  compile(shape, {}, request.call, [this, shape, promise](StatusOr<std::shared_ptr<const CompiledStep>> compiled) mutable {
    if (!compiled.ok()) {
      promise.deliver(to_caf(compiled.status()));
      return;
    }
    Partial partial;
    partial.compiled = *std::move(compiled);
    partial.step_id = random_step_id();
    partial.feeds_left.insert(shape.feeds.begin(), shape.feeds.end());
    partial.fetches_left.insert(shape.fetches.begin(), shape.fetches.end());
    auto reply = pack<wire::PartialRunSetupResponse>();
    reply->set_partial_run_handle(std::to_string(next_partial++));
    partials[reply->partial_run_handle()] = std::move(partial);
    promise.deliver(std::move(reply));
  });
  return promise;
}

Answer<wire::RunStepResponse> SessionState::run_partial(Parcel<RunStepRequest>& request) {
  auto found = partials.find(request->partial_run_handle);
  if (found == partials.end()) return to_caf(invalid("Must run PartialRunSetup before performing partial runs"));
  Partial& partial = found->second;
  for (const auto& feed : request->feeds) {
    if (!partial.compiled->feed_keys.contains(feed.name)) return to_caf(invalid("The feed {} was not specified in partial_run_setup.", feed.name));
    if (!partial.feeds_left.contains(feed.name)) return to_caf(invalid("The feed {} has already been fed.", feed.name));
  }
  for (const auto& fetch : request->fetches) {
    if (!partial.compiled->fetch_keys.contains(fetch)) return to_caf(invalid("The fetch {} was not specified in partial_run_setup.", fetch));
    if (!partial.fetches_left.contains(fetch)) return to_caf(invalid("The fetch {} has already been fetched.", fetch));
  }
  auto feeds_left = partial.feeds_left;
  for (const auto& feed : request->feeds) feeds_left.erase(feed.name);
  if (Status status = check_fetches(*graph, feeds_left, request->fetches); !status.ok()) return to_caf(status);
  partial.feeds_left = std::move(feeds_left);
  for (const auto& fetch : request->fetches) partial.fetches_left.erase(fetch);
  StepOrder order;
  order.step_id = partial.step_id;
  order.feeds = std::move(request->feeds);
  order.fetches = std::move(request->fetches);
  order.options = std::move(request->options);
  order.partial = true;
  order.last = partial.feeds_left.empty() && partial.fetches_left.empty();
  auto promise = self->make_response_promise<Parcel<RunStepResponse>>();
  if (!partial.started) {
    partial.started = true;
    start(partial.compiled, order, request.call, to_promise(promise));
    return promise;
  }
  auto step = running.find(partial.step_id);
  if (step == running.end()) return to_caf(invalid("Must run PartialRunSetup before performing partial runs"));
  step->second.call = request.call;
  const auto running_step = step->second.step;
  running_step->take(order, to_promise(promise));
  return promise;
}

Answer<wire::MakeCallableResponse> SessionState::make_callable(Asked<wire::MakeCallableRequest>& request) {
  if (Status status = ready_to_run(); !status.ok()) return to_caf(status);
  const StepShape shape = shape_of(request->options());
  if (shape.fetches.empty() && shape.targets.empty()) return to_caf(nothing_asked());
  auto promise = self->make_response_promise<Parcel<wire::MakeCallableResponse>>();
  compile(shape, request->options().run_options().debug_options(), request.call,
          [this, request, promise](StatusOr<std::shared_ptr<const CompiledStep>> compiled) mutable {
            if (!compiled.ok()) {
              promise.deliver(to_caf(compiled.status()));
              return;
            }
            auto reply = pack<wire::MakeCallableResponse>();
            reply->set_handle(next_callable++);
            callables[reply->handle()] = request->options();
            promise.deliver(std::move(reply));
          });
  return promise;
}

Answer<wire::RunCallableResponse> SessionState::run_callable(Asked<wire::RunCallableRequest>& request) {
  if (Status status = ready_to_run(); !status.ok()) return to_caf(status);
  auto found = callables.find(request->handle());
  if (found == callables.end()) return to_caf(invalid("No such callable handle: {}", request->handle()));
  const auto& options = found->second;
  if (options.feed_size() != request->feed_size())
    return to_caf(invalid("Expected {} feeds for callable {}, got {}.", options.feed_size(), request->handle(), request->feed_size()));
  const StepShape shape = shape_of(options);
  auto order = std::make_shared<StepOrder>();
  order->step_id = random_step_id();
  if (options.has_run_options()) order->options.edit() = options.run_options();
  order->fetches = shape.fetches;
  for (int i = 0; i < request->feed_size(); ++i) {
    auto tensor = tensor_from_proto(request->feed(i));
    if (!tensor.ok()) return to_caf(tensor.status());
    order->feeds.push_back({shape.feeds[static_cast<std::size_t>(i)], *std::move(tensor)});
  }
  auto promise = self->make_response_promise<Parcel<wire::RunCallableResponse>>();
  auto go_on = [this, order, promise, call = request.call](const StepShape& of) mutable {
    compile(of, order->options->debug_options(), call,
            [this, order, fetches = of.fetches, promise, call](StatusOr<std::shared_ptr<const CompiledStep>> compiled) mutable {
              if (!compiled.ok()) {
                promise.deliver(to_caf(compiled.status()));
                return;
              }
              start(*std::move(compiled), *order, call, [promise, fetches](StatusOr<Parcel<RunStepResponse>> reply) mutable {
                if (reply.ok()) promise.deliver(callable_reply(fetches, **reply));
                else promise.deliver(to_caf(reply.status()));
              });
            });
  };
  const auto& debug = options.run_options().debug_options();
  if (debug.debug_tensor_watch_opts().empty()) go_on(shape);
  else
    tell_debugger(shape, debug, [go_on, shape, promise](Status told) mutable {
      if (told.ok()) go_on(shape);
      else promise.deliver(to_caf(told));
    });
  return promise;
}

Answer<wire::ReleaseCallableResponse> SessionState::release_callable(Asked<wire::ReleaseCallableRequest>& request) {
  if (Status status = ready_to_run(); !status.ok()) return to_caf(status);
  callables.erase(request->handle());
  return pack<wire::ReleaseCallableResponse>();
}

}  // namespace troupe
