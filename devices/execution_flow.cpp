// Propagation of values through edges, frames and iterations.
#include <troupe/devices/execution.hpp>

#include <algorithm>

namespace troupe {

void Execution::propagate(const Ready& ready, const PlanNode& p, std::span<Value> outputs, bool dead) {
  Iteration& at = *ready.at;
  switch (p.flow) {
    case Flow::enter: enter(ready, p, outputs, dead); break;
    case Flow::exit:
      if (!dead) deliver(p, *at.frame->entered_from, outputs, false);
      else note_dead_exit(at, ready.node);
      break;
    case Flow::next_iteration:
      if (!dead) next_iteration(ready, p, outputs);
      break;
    default: deliver(p, at, outputs, dead);
  }
  node_done(at);
}

/// Only those of a loop's last round tell the outside that nothing came.
void Execution::note_dead_exit(Iteration& at, int node) {
  if (at.number == at.frame->newest()) at.frame->dead_exits.push_back(node);
}

void Execution::deliver(const PlanNode& from, Iteration& to, std::span<Value> outputs, bool dead) {
  const PlanEdge* const end = plan_->edges().data() + from.edges_end;
  for (const PlanEdge* edge = plan_->edges().data() + from.edges_begin; edge != end; ++edge) {
    Value* value = dead || edge->output < 0 ? nullptr : &outputs[static_cast<std::size_t>(edge->output)];
    const bool edge_dead = dead || (value && value->dead);
    if (edge->merge) {
      deliver_to_merge(from, *edge, to, value, edge_dead);
      continue;
    }
    // A loop that goes on leaves by none of its exits: not worth a turn of theirs.
    if (edge->leaves && edge_dead) {
      note_dead_exit(to, edge->node);
      ++to.done;
      continue;
    }
    NodeState& state = to.states[static_cast<std::size_t>(edge->local)];
    if (edge_dead) {
      ++state.dead;
    } else if (value) {
      Value& slot = to.slots[static_cast<std::size_t>(edge->slot)];
      if (edge->last) slot = std::move(*value);
      else slot = *value;
    }
    if (--state.pending != 0) continue;
    ++to.active;
    ready_.push({&to, edge->node, state.dead > 0 && !edge->trigger});
  }
}

void Execution::deliver_to_merge(const PlanNode& from, const PlanEdge& edge, Iteration& to, Value* value, bool dead) {
  NodeState& state = to.states[static_cast<std::size_t>(edge.local)];
  const int inputs = plan_->node(edge.node).inputs;
  bool is_ready = false, is_dead = false;
  if (edge.output < 0) {
    state.pending -= 2;
    is_dead = state.dead == inputs;
    is_ready = state.pending == 0 || (state.pending == 1 && is_dead);
  } else if (!dead) {
    if (state.pending & 1) {
      Value& slot = to.slots[static_cast<std::size_t>(edge.slot)];
      if (edge.last) slot = std::move(*value);
      else slot = *value;
      is_ready = --state.pending == 0;
    }
  } else {
    ++state.dead;
    // A loop on the branch not taken: its Merge will never hear from NextIteration.
    is_dead = state.dead == inputs || from.flow == Flow::enter;
    is_ready = state.pending == 1 && is_dead;
  }
  if (!is_ready) return;
  ++to.active;
  ready_.push({&to, edge.node, is_dead});
}

Frame& Execution::start_frame(Iteration& from, int index) {
  if (ended_.empty()) ended_.push_back(std::make_unique<Frame>());
  frames_.push_back(std::move(ended_.back()));
  ended_.pop_back();
  Frame& frame = *frames_.back();
  frame.info = &plan_->frames()[static_cast<std::size_t>(index)];
  frame.index = index;
  frame.entered_from = &from;
  frame.id = combine_hashes(from.frame->id, combine_hashes(static_cast<std::uint64_t>(from.number), frame.info->name_hash));
  frame.enters_left = frame.info->enters;
  frame.first = 0;
  from.children.push_back(&frame);
  start_iteration(frame);
  return frame;
}

Iteration& Execution::start_iteration(Frame& frame) {
  frame.iterations.push_back(plan_->spares().take(frame.index));
  Iteration& started = *frame.iterations.back();
  started.frame = &frame;
  started.number = frame.newest();
  return started;
}

void Execution::enter(const Ready& ready, const PlanNode& p, std::span<Value> outputs, bool dead) {
  Iteration& from = *ready.at;
  auto known = std::find_if(from.children.begin(), from.children.end(), [&](Frame* f) { return f->index == p.child_frame; });
  Frame& child = known == from.children.end() ? start_frame(from, p.child_frame) : **known;
  --child.enters_left;
  if (p.constant && !dead) {
    child.invariants.emplace_back(ready.node, outputs[0]);
    for (auto& iteration : child.iterations) {
      Value copy = outputs[0];
      deliver(p, *iteration, std::span<Value>(&copy, 1), false);
    }
  } else if (child.first == 0) {
    deliver(p, child.at(0), outputs, dead);
  }
  settle(child);
}

void Execution::next_iteration(const Ready& ready, const PlanNode& p, std::span<Value> outputs) {
  Frame& frame = *ready.at->frame;
  if (ready.at->number == frame.newest()) {
    if (static_cast<int>(frame.iterations.size()) >= frame.info->parallel_iterations) {
      frame.next_roots.emplace_back(ready.node, std::move(outputs[0]));
      return;
    }
    grow(frame);
  }
  deliver(p, frame.at(ready.at->number + 1), outputs, false);
}

void Execution::grow(Frame& frame) {
  Iteration& fresh = start_iteration(frame);
  frame.dead_exits.clear();
  for (auto& [node, value] : frame.invariants) {
    Value copy = value;
    deliver(plan_->node(node), fresh, std::span<Value>(&copy, 1), false);
  }
}

void Execution::node_done(Iteration& iteration) {
  ++iteration.done;
  if (--iteration.active == 0 && iteration.frame->entered_from) settle(*iteration.frame);
}

void Execution::settle(Frame& frame) {
  if (!frame.entered_from) return;
  while (!frame.iterations.empty()) {
    Iteration& oldest = *frame.iterations.front();
    if (oldest.active > 0 || !oldest.children.empty() || (frame.first == 0 && frame.enters_left > 0)) break;
    // With a limit of one iteration at a time the next must begin before the last goes.
    if (frame.iterations.size() == 1) start_next(frame);
    plan_->spares().give(frame.index, std::move(frame.iterations.front()));
    frame.iterations.erase(frame.iterations.begin());
    ++frame.first;
    start_next(frame);
  }
  if (frame.iterations.empty() && frame.enters_left <= 0) end_frame(frame);
}

void Execution::start_next(Frame& frame) {
  if (frame.next_roots.empty()) return;
  auto roots = std::move(frame.next_roots);
  frame.next_roots.clear();
  grow(frame);
  for (auto& [node, value] : roots) deliver(plan_->node(node), *frame.iterations.back(), std::span<Value>(&value, 1), false);
}

void Execution::end_frame(Frame& frame) {
  Iteration& from = *frame.entered_from;
  for (int node : frame.dead_exits) deliver(plan_->node(node), from, {}, true);
  std::erase(from.children, &frame);
  auto self = std::find_if(frames_.begin(), frames_.end(), [&](const auto& f) { return f.get() == &frame; });
  frame.invariants.clear();
  frame.next_roots.clear();
  frame.dead_exits.clear();
  ended_.push_back(std::move(*self));
  frames_.erase(self);
  settle(*from.frame);
}

}  // namespace troupe
