// Frames and iterations of a run: where values wait for their consumers.
#pragma once

#include <troupe/devices/execution.hpp>

#include <optional>

namespace troupe {

struct Execution::Iteration {
  explicit Iteration(const PlanFrame& info) : slots(static_cast<std::size_t>(info.slots)), states(info.initial) {}
  std::vector<Value> slots;
  std::vector<NodeState> states;
  int active = 0;                // nodes ready or under way
  std::vector<Frame*> children;  // frames entered from here that have not ended
};

/// A loop in execution. Iterations end in order; the oldest that lives is `first`.
struct Execution::Frame {
  const PlanFrame* info = nullptr;
  int index = 0;
  Frame* parent = nullptr;
  std::int64_t parent_iteration = 0;
  std::uint64_t id = 0;  // on the wire
  int enters_left = 0;
  std::int64_t first = 0;
  std::deque<std::unique_ptr<Iteration>> iterations;
  std::vector<std::pair<int, Value>> invariants;  // of constant Enters
  std::vector<std::pair<int, Value>> next_roots;  // NextIterations held back by the limit of parallel iterations
  std::vector<int> dead_exits;

  std::int64_t newest() const { return first + static_cast<std::int64_t>(iterations.size()) - 1; }
  void start_iteration() { iterations.push_back(std::make_unique<Iteration>(*info)); }
};

/// A kernel that has not answered yet, with what it works on.
struct Execution::Waiting {
  Ready ready;
  std::vector<Value> inputs, outputs;
  std::optional<Call> call;
  std::int64_t started = 0;
  std::size_t place = 0;
};

}  // namespace troupe
