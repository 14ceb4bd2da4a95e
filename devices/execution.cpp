// Running of nodes: kernels here, on the pool, or waiting.
#include <troupe/devices/execution.hpp>

#include <troupe/devices/costs.hpp>
#include <troupe/devices/fused.hpp>
#include <troupe/devices/kernel_run.hpp>
#include <troupe/messaging/wall_clock.hpp>
#include <troupe/ops/resources/variable.hpp>

#include <array>
#include <chrono>
#include <optional>

namespace troupe {

/// A kernel that has not answered yet, with what it works on.
struct Execution::Waiting {
  Ready ready;
  std::vector<Value> inputs, outputs;
  std::optional<Call> call;
  std::int64_t started = 0;
  std::size_t place = 0;
};

namespace {

/// What is expected to take less is not worth looking at the clock.
constexpr float unmeasured_ns = 2000;

std::int64_t now_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// What a Merge tells besides its value. Nearly always one of two, which are made once.
Tensor index_of_input(std::size_t i) {
  static const std::array<Tensor, 2> first{Tensor::scalar<std::int32_t>(0), Tensor::scalar<std::int32_t>(1)};
  return i < first.size() ? first[i] : Tensor::scalar(static_cast<std::int32_t>(i));
}

/// A node with a reference for its result has that of its first input, unless it made one.
void hand_on_reference(const PlanNode& p, std::span<Value> inputs, std::span<Value> outputs) {
  if (p.ref_output && !outputs[0].ref && !outputs[0].dead && !inputs.empty() && inputs[0].ref) outputs[0].ref = inputs[0].ref;
}

}  // namespace

Execution::Execution(std::shared_ptr<const Plan> plan, std::shared_ptr<const Hands> hands)
    : plan_(std::move(plan)), hands_(std::move(hands)), unit_(std::make_shared<Unit>(hands_->cuts ? hands_->cuts : std::make_shared<Cuts>())) {}
Execution::~Execution() = default;

void Execution::run(Finished finished) {
  finished_ = std::move(finished);
  results_.resize(static_cast<std::size_t>(plan_->results()));
  outputs_.resize(static_cast<std::size_t>(plan_->most_outputs()));
  root_.info = &plan_->frames()[0];
  Iteration& all = start_iteration(root_);
  all.active = static_cast<int>(plan_->roots().size());
  for (int node : plan_->roots()) ready_.push({&all, node, false});
  if (stats_) note(NodeFacts{"_SOURCE", "NoOp", device}, "", now_micros(), {});
  if (stats_)
    for (const NodeFacts& constant : plan_->bound()) note(constant, "", now_micros(), {});
  loop();
}

void Execution::loop() {
  if (looping_) return;
  looping_ = true;
  auto alive = shared_from_this();
  unit_->enter();
  for (;;) {
    while (!ready_.empty()) {
      process(ready_.pop());
      if (!status_.ok()) ready_.clear();
    }
    if (last_.empty() || under_way_ > 0 || !held_updates_.empty() || !held_reads_.empty() || !status_.ok()) break;
    fetch_at_once_ = true;
    for (const Ready& fetch : std::exchange(last_, {})) ready_.push(fetch);
  }
  looping_ = false;
  unit_->leave();
  if (flushes_ && finished_) rendezvous->flush();
  const bool through = under_way_ == 0 && held_updates_.empty() && held_reads_.empty();
  // Kernels on other threads cannot be called back; a run that has failed does not wait for them.
  if ((through || (!status_.ok() && under_way_ == elsewhere_)) && finished_) {
    if (status_.ok()) {
      plan_->spares().give(0, std::move(root_.iterations.front()));
      root_.iterations.clear();
    }
    auto finished = std::move(finished_);
    finished_ = nullptr;
    finished(status_);
  }
}

void Execution::stop(Status reason) {
  if (!finished_) return;
  auto alive = shared_from_this();
  status_.Update(reason);
  if (cancellation) cancellation->cancel(std::move(reason));
  ready_.clear();
  loop();
}

std::vector<std::string> Execution::waiting() const {
  std::vector<std::string> names;
  for (const auto& w : waiting_) names.push_back(fmt::format("{} ({})", plan_->node(w->ready.node).facts.name, plan_->node(w->ready.node).facts.op));
  return names;
}

void Execution::process(const Ready& ready) {
  const PlanNode& p = plan_->node(ready.node);
  std::span<Value> inputs(ready.at->slots.data() + p.slots, static_cast<std::size_t>(p.inputs));
  if (ready.dead) {
    if (!p.transfer) return pass_dead(ready, p, inputs);
    for (Value& v : inputs) v.dead = true;
  }
  if (p.fetches && !fetch_at_once_ && !inputs.empty() && inputs[0].ref && inputs[0].ref->initialized()) return last_.push_back(ready);
  if (p.touch != Touch::none && held_back(ready, p, inputs)) return;
  if (sight_ && p.watch != Watch::none) tell(p, inputs);
  if (p.any_ref_source)
    if (Status status = fetch_references(p, inputs); !status.ok()) return fail(p, std::move(status));
  if (p.flow == Flow::kernel) run_kernel_node(ready, p, inputs);
  else run_here(ready, p, inputs);
}

void Execution::run_kernel_node(const Ready& ready, const PlanNode& p, std::span<Value> inputs) {
  if (!p.kernel) return fail(p, p.missing);
  if (p.kernel->start) return start_waiting(ready, p, inputs);
  if (!hands_->offload || p.kernel->place == Place::device || (stats_ && p.fused)) return run_here(ready, p, inputs);
  if (p.kernel->place == Place::io) return run_elsewhere(ready, p, inputs, 0);
  std::int64_t elements = 0;
  for (const Value& v : inputs) elements += v.tensor.size();
  const float expected = plan_->costs().expected(ready.node, *p.kernel, elements);
  if (expected > (ready_.empty() ? hands_->worth_alone_ns : hands_->worth_ns)) return run_elsewhere(ready, p, inputs, elements);
  if (expected < unmeasured_ns && (elements == 0 || plan_->costs().knows(ready.node))) return run_here(ready, p, inputs);
  const std::int64_t started = now_ns();
  run_here(ready, p, inputs);
  plan_->costs().learn(ready.node, elements, now_ns() - started);
}

void Execution::pass_dead(const Ready& ready, const PlanNode& p, std::span<Value> inputs) {
  clear_inputs(p, *ready.at->frame->info, inputs);
  propagate(ready, p, {}, true);
}

Status Execution::fetch_references(const PlanNode& p, std::span<Value> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Value& v = inputs[i];
    if (!v.ref) continue;
    if (!v.ref->initialized() && !p.allows_uninitialized) return failed_precondition("Attempting to use uninitialized value {}", v.ref->name());
    if (i < 64 && (p.ref_inputs >> i & 1)) continue;
    if (sight_) sight_->reads(*v.ref);
    // Who may look at what was never set sees zeros.
    v.tensor = v.ref->initialized() ? v.ref->snapshot() : Tensor::zeros(v.ref->dtype(), v.ref->declared_shape().known().value_or(Shape{}));
    v.ref.reset();
  }
  return absl::OkStatus();
}

void Execution::run_here(const Ready& ready, const PlanNode& p, std::span<Value> inputs) {
  const std::int64_t started = stats_ ? now_micros() : 0;
  std::span<Value> outputs(outputs_.data(), static_cast<std::size_t>(p.outputs));
  Status status;
  if (p.flow != Flow::kernel) {
    status = steer(p, inputs, outputs);
  } else {
    Call call(p.facts, inputs, outputs, *this, Tag{ready.at->frame->id, ready.at->number});
    // A record shows all nodes.
    if (stats_ && p.fused)
      status = p.fused->run_members(call, [this](const PlanNode& m, std::int64_t from, auto o) { note(m.facts, m.operands, from, o); });
    else status = run_kernel(*p.kernel, call);
  }
  if (stats_ && !p.fused) {
    hand_on_reference(p, inputs, outputs);
    note(p.facts, p.operands, started, outputs);
  }
  finish_node(ready, p, std::move(status), inputs, outputs);
  for (Value& v : outputs) v.reset();
}

Execution::Waiting* Execution::hold(const Ready& ready, const PlanNode& p, std::span<Value> inputs) {
  auto owned = std::make_unique<Waiting>();
  Waiting* w = owned.get();
  w->ready = ready;
  w->inputs.assign(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
  clear_inputs(p, *ready.at->frame->info, inputs);
  w->outputs.resize(static_cast<std::size_t>(p.outputs));
  w->call.emplace(p.facts, std::span<Value>(w->inputs), std::span<Value>(w->outputs), *this, Tag{ready.at->frame->id, ready.at->number});
  w->started = stats_ || sight_ ? now_micros() : 0;
  w->place = waiting_.size();
  waiting_.push_back(std::move(owned));
  ++under_way_;
  return w;
}

void Execution::start_waiting(const Ready& ready, const PlanNode& p, std::span<Value> inputs) {
  Waiting* w = hold(ready, p, inputs);
  try {
    p.kernel->start(*w->call, [self = shared_from_this(), w](Status status) { self->complete(w, std::move(status)); });
  } catch (const OutOfMemory& e) {
    complete(w, out_of_memory(e, p.facts));
  }
}

void Execution::run_elsewhere(const Ready& ready, const PlanNode& p, std::span<Value> inputs, std::int64_t elements) {
  Waiting* w = hold(ready, p, inputs);
  ++elsewhere_;
  const bool computes = p.kernel->place != Place::io;  // files are waited for, other threads are not: cuts do not depend on their number
  if (computes) unit_->enter();
  hands_->offload(
      [self = shared_from_this(), w, kernel = p.kernel, computes, elements] {
        const std::int64_t started = now_ns();
        Status status = run_kernel(*kernel, *w->call);
        const std::int64_t took = now_ns() - started;
        self->hands_->back([self, w, computes, elements, took, status = std::move(status)] {
          --self->elsewhere_;
          if (elements > 0) self->plan_->costs().learn(w->ready.node, elements, took);
          self->complete(w, status);
          if (computes) self->unit_->leave();
        });
      },
      p.kernel->place);
}

void Execution::run_blocking(std::function<void()> work, std::function<void()> after) {
  if (!hands_->offload) {
    work();
    return after();
  }
  hands_->offload(
      [hands = hands_, work = std::move(work), after = std::move(after)] {
        work();
        hands->back(after);
      },
      Place::io);
}

void Execution::complete(Waiting* waiting, Status status) {
  auto alive = shared_from_this();
  std::unique_ptr<Waiting> owned = std::move(waiting_[waiting->place]);
  if (owned->place + 1 != waiting_.size()) {
    waiting_[owned->place] = std::move(waiting_.back());
    waiting_[owned->place]->place = owned->place;
  }
  waiting_.pop_back();
  --under_way_;
  const PlanNode& p = plan_->node(owned->ready.node);
  if (stats_) {
    hand_on_reference(p, owned->inputs, owned->outputs);
    note(p.facts, p.operands, owned->started, owned->outputs);
  }
  if (sight_ && p.watch == Watch::wait) sight_->waited(waited_for(p), static_cast<double>(now_micros() - owned->started) * 1e-6);
  // After a failure the frames may be gone from the list of the living; only the count matters then.
  if (status_.ok()) finish_node(owned->ready, p, std::move(status), owned->inputs, owned->outputs);
  if (!status_.ok()) ready_.clear();
  loop();
}

/// Moves where it may: a constant that is always there comes back to its slot when the node is done.
Status Execution::steer(const PlanNode& p, std::span<Value> inputs, std::span<Value> outputs) {
  switch (p.flow) {
    case Flow::switch_: {
      const Tensor& pred = inputs[1].tensor;
      if (pred.dtype() != DType::boolean || pred.rank() != 0) return invalid("The second input must be a scalar, but it has shape {}", pred.shape());
      const bool taken = pred.item<bool>();
      outputs[taken ? 1 : 0] = std::move(inputs[0]);
      outputs[taken ? 0 : 1] = Value::dead_one();
      break;
    }
    case Flow::switch_n: {
      if (inputs[1].tensor.dtype() != DType::i32 || inputs[1].tensor.rank() != 0)
        return invalid("The second input must be a scalar, but it has shape {}", inputs[1].tensor.shape());
      auto chosen = static_cast<std::size_t>(inputs[1].tensor.item<std::int32_t>());
      if (chosen >= outputs.size()) chosen = outputs.size() - 1;
      for (Value& v : outputs) v = Value::dead_one();
      outputs[chosen] = std::move(inputs[0]);
      break;
    }
    case Flow::merge:
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].tensor.valid() && !inputs[i].ref) continue;
        outputs[0] = std::move(inputs[i]);
        outputs[1] = index_of_input(i);
        break;
      }
      break;
    case Flow::enter:
    case Flow::exit:
    case Flow::next_iteration:
    case Flow::loop_cond: outputs[0] = std::move(inputs[0]); break;
    case Flow::argument:
      if (static_cast<std::size_t>(p.index) >= arguments_.size())
        return invalid("Function got {} arguments, but wants one at {}", arguments_.size(), p.index);
      outputs[0] = std::move(arguments_[static_cast<std::size_t>(p.index)]);
      break;
    case Flow::result: results_[static_cast<std::size_t>(p.index)] = std::move(inputs[0].tensor); break;
    case Flow::no_op:
    case Flow::trigger:
    case Flow::kernel: break;
  }
  return absl::OkStatus();
}

void Execution::finish_node(const Ready& ready, const PlanNode& p, Status status, std::span<Value> inputs, std::span<Value> outputs) {
  // A fused node has told which of its members failed.
  if (!status.ok()) return p.fused ? end_with(std::move(status)) : fail(p, std::move(status));
  if (p.transfer && !outputs.empty() && !outputs[0].dead && outputs[0].tensor.valid() && outputs[0].tensor.dtype() != p.declared)
    return end_with(internal("Output 0 of type {} does not match declared output type {} for node {{{{node {}}}}}",
                             name_of(outputs[0].tensor.dtype()), name_of(p.declared), p.facts.name));
  hand_on_reference(p, inputs, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].empty()) return end_with(internal("Missing {}-th output from {{{{node {}}}}}", i, p.facts.name));
  clear_inputs(p, *ready.at->frame->info, inputs);
  propagate(ready, p, outputs, false);
}

void Execution::fail(const PlanNode& p, Status status) {
  if (!status_.ok()) return;
  end_with(told_by(p, std::move(status)));
}

void Execution::end_with(Status status) {
  if (!status_.ok()) return;
  status_ = status;
  ready_.clear();
  if (cancellation) cancellation->cancel(as_derived(status));
}

}  // namespace troupe
