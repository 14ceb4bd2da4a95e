// Propagation of values through edges, frames and iterations.
#include <troupe/devices/execution.hpp>

#include <troupe/devices/execution_state.hpp>

#include <algorithm>

namespace troupe {

Execution::Iteration& Execution::at(Frame& frame, std::int64_t iteration) {
  return *frame.iterations[static_cast<std::size_t>(iteration - frame.first)];
}

void Execution::propagate(const Ready& ready, const PlanNode& p, std::span<Value> outputs, bool dead) {
  Frame& frame = *ready.frame;
  switch (p.flow) {
    case Flow::enter: enter(ready, p, outputs, dead); break;
    case Flow::exit:
      if (!dead) deliver(p, *frame.parent, frame.parent_iteration, outputs, false);
      else if (ready.iteration == frame.newest()) frame.dead_exits.push_back(ready.node);
      break;
    case Flow::next_iteration:
      if (!dead) next_iteration(ready, p, outputs);
      break;
    default: deliver(p, frame, ready.iteration, outputs, dead);
  }
  node_done(frame, ready.iteration);
}

void Execution::deliver(const PlanNode& from, Frame& frame, std::int64_t iteration, std::span<Value> outputs, bool dead) {
  Iteration& it = at(frame, iteration);
  for (int e = from.edges_begin; e < from.edges_end; ++e) {
    const PlanEdge& edge = plan_->edges()[static_cast<std::size_t>(e)];
    const PlanNode& to = plan_->node(edge.node);
    NodeState& state = it.states[static_cast<std::size_t>(to.local)];
    const bool control = edge.output < 0;
    const bool edge_dead = dead || (!control && outputs[static_cast<std::size_t>(edge.output)].dead);
    auto store = [&] {
      Value& value = outputs[static_cast<std::size_t>(edge.output)];
      Value& slot = it.slots[static_cast<std::size_t>(to.slots + edge.slot)];
      if (edge.last) slot = std::move(value);
      else slot = value;
    };
    bool is_ready = false, is_dead = false;
    if (to.flow == Flow::merge) {
      if (control) {
        state.pending -= 2;
        is_dead = state.dead == to.inputs;
        is_ready = state.pending == 0 || (state.pending == 1 && is_dead);
      } else if (!edge_dead) {
        if (state.pending & 1) {
          store();
          is_ready = --state.pending == 0;
        }
      } else {
        ++state.dead;
        // A loop on the branch not taken: its Merge will never hear from NextIteration.
        is_dead = state.dead == to.inputs || from.flow == Flow::enter;
        is_ready = state.pending == 1 && is_dead;
      }
    } else {
      if (edge_dead) ++state.dead;
      else if (!control) store();
      is_ready = --state.pending == 0;
      is_dead = state.dead > 0 && to.flow != Flow::trigger;
    }
    if (!is_ready) continue;
    ++it.active;
    ready_.push_back({edge.node, &frame, iteration, is_dead});
  }
}

void Execution::enter(const Ready& ready, const PlanNode& p, std::span<Value> outputs, bool dead) {
  Iteration& from = at(*ready.frame, ready.iteration);
  auto known = std::find_if(from.children.begin(), from.children.end(), [&](Frame* f) { return f->index == p.child_frame; });
  Frame* child = known == from.children.end() ? nullptr : *known;
  if (!child) {
    auto made = std::make_unique<Frame>();
    child = made.get();
    child->info = &plan_->frames()[static_cast<std::size_t>(p.child_frame)];
    child->index = p.child_frame;
    child->parent = ready.frame;
    child->parent_iteration = ready.iteration;
    child->id = combine_hashes(ready.frame->id, combine_hashes(static_cast<std::uint64_t>(ready.iteration), child->info->name_hash));
    child->enters_left = child->info->enters;
    child->start_iteration();
    from.children.push_back(child);
    frames_.push_back(std::move(made));
  }
  --child->enters_left;
  if (p.constant && !dead) {
    child->invariants.emplace_back(ready.node, outputs[0]);
    for (std::int64_t i = child->first; i <= child->newest(); ++i) {
      Value copy = outputs[0];
      deliver(p, *child, i, std::span<Value>(&copy, 1), false);
    }
  } else if (child->first == 0) {
    deliver(p, *child, 0, outputs, dead);
  }
  settle(*child);
}

void Execution::next_iteration(const Ready& ready, const PlanNode& p, std::span<Value> outputs) {
  Frame& frame = *ready.frame;
  if (ready.iteration == frame.newest()) {
    if (static_cast<int>(frame.iterations.size()) >= frame.info->parallel_iterations) {
      frame.next_roots.emplace_back(ready.node, std::move(outputs[0]));
      return;
    }
    grow(frame);
  }
  deliver(p, frame, ready.iteration + 1, outputs, false);
}

void Execution::grow(Frame& frame) {
  frame.start_iteration();
  frame.dead_exits.clear();
  for (auto& [node, value] : frame.invariants) {
    Value copy = value;
    deliver(plan_->node(node), frame, frame.newest(), std::span<Value>(&copy, 1), false);
  }
}

void Execution::node_done(Frame& frame, std::int64_t iteration) {
  --at(frame, iteration).active;
  if (frame.parent) settle(frame);
}

void Execution::settle(Frame& frame) {
  if (!frame.parent) return;
  while (!frame.iterations.empty()) {
    Iteration& oldest = *frame.iterations.front();
    if (oldest.active > 0 || !oldest.children.empty() || (frame.first == 0 && frame.enters_left > 0)) break;
    // With a limit of one iteration at a time the next must begin before the last goes.
    if (frame.iterations.size() == 1) start_next(frame);
    frame.iterations.pop_front();
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
  for (auto& [node, value] : roots) deliver(plan_->node(node), frame, frame.newest(), std::span<Value>(&value, 1), false);
}

void Execution::end_frame(Frame& frame) {
  Frame& parent = *frame.parent;
  const std::int64_t iteration = frame.parent_iteration;
  for (int node : frame.dead_exits) deliver(plan_->node(node), parent, iteration, {}, true);
  std::erase(at(parent, iteration).children, &frame);
  auto self = std::find_if(frames_.begin(), frames_.end(), [&](const auto& f) { return f.get() == &frame; });
  // The caller may still be looking at the frame: it goes when the run does, but holds nothing any more.
  (*self)->invariants.clear();
  retired_.push_back(std::move(*self));
  frames_.erase(self);
  settle(parent);
}

}  // namespace troupe
