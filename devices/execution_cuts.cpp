// Where a run takes turns with others: updates join its unit, reads for a checkpoint wait for their cut.
#include <troupe/devices/execution.hpp>

#include <troupe/ops/resources/variable.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

bool Execution::held_back(const Ready& ready, const PlanNode& p, std::span<Value> inputs) {
  if (p.touch == Touch::update) {
    if (unit_->may_update()) return false;
    held_updates_.push_back(ready);
    if (held_updates_.size() == 1) unit_->cuts().resume_later([self = shared_from_this()] { self->resume_updates(); });
    return true;
  }
  const bool reads = p.touch == Touch::read || std::any_of(inputs.begin(), inputs.end(), [](const Value& v) { return v.ref != nullptr; });
  if (!reads || cutting_ || ready.at->frame != &root_) return false;
  held_reads_.push_back(ready);
  if (held_reads_.size() == 1) {
    // Only now, when nothing of the step runs, have all reads come that need not wait for anybody.
    unit_->when_idle([self = shared_from_this()] { self->unit_->cuts().request([self] { self->take_cut(); }); });
  }
  return true;
}

void Execution::resume_updates() {
  auto held = std::exchange(held_updates_, {});
  if (!status_.ok()) return;
  for (const Ready& update : held) ready_.push(update);
  loop();
}

void Execution::take_cut() {
  auto reads = std::exchange(held_reads_, {});
  if (!status_.ok()) return;
  cutting_ = looping_ = true;
  unit_->enter();
  Iteration& iteration = *root_.iterations.front();
  for (const int save : plan_->saves()) {
    const PlanNode& p = plan_->node(save);
    if (p.frame != 0) continue;
    for (Value& v : std::span<Value>(iteration.slots.data() + p.slots, static_cast<std::size_t>(p.inputs)))
      if (v.ref && v.ref->initialized()) v = Value(v.ref->snapshot());
  }
  for (const Ready& read : reads)
    if (status_.ok()) process(read);
  if (!status_.ok()) ready_.clear();
  looping_ = false;
  loop();
  cutting_ = false;
  unit_->leave();
}

}  // namespace troupe
