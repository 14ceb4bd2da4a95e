// Frames and iterations of a run: where values wait for their consumers.
#pragma once

#include <troupe/devices/plan.hpp>
#include <troupe/ops/value.hpp>

#include <boost/container/small_vector.hpp>

#include <memory>
#include <vector>

namespace troupe {

struct Frame;

/// One round of a loop, or the whole of what is outside of loops.
struct Iteration {
  explicit Iteration(const PlanFrame& info);

  Frame* frame = nullptr;
  std::int64_t number = 0;
  std::vector<Value> slots;
  std::vector<NodeState> states;
  int active = 0;                // nodes ready or under way
  int done = 0;                  // nodes that ran, dead or alive
  std::vector<Frame*> children;  // frames entered from here that have not ended
};

/// A loop in execution. Iterations end in order; the oldest that lives is `first`.
struct Frame {
  const PlanFrame* info = nullptr;
  int index = 0;
  Iteration* entered_from = nullptr;  // null for the root
  std::uint64_t id = 0;               // on the wire
  int enters_left = 0;
  std::int64_t first = 0;
  boost::container::small_vector<std::unique_ptr<Iteration>, 2> iterations;
  std::vector<std::pair<int, Value>> invariants;  // of constant Enters
  std::vector<std::pair<int, Value>> next_roots;  // NextIterations held back by the limit of parallel iterations
  std::vector<int> dead_exits;

  std::int64_t newest() const { return first + static_cast<std::int64_t>(iterations.size()) - 1; }
  Iteration& at(std::int64_t number) { return *iterations[static_cast<std::size_t>(number - first)]; }
};

/// Iterations that ended, kept for those to come: their slots hold the constants and nothing else. One thread at a time.
class Spares {
 public:
  explicit Spares(const std::vector<PlanFrame>& frames);

  /// An iteration as at its begin.
  std::unique_ptr<Iteration> take(int frame);
  /// For one in which nothing is under way any more.
  void give(int frame, std::unique_ptr<Iteration> iteration);

 private:
  const std::vector<PlanFrame>& frames_;
  std::vector<std::vector<std::unique_ptr<Iteration>>> spare_;
};

/// Takes out of a node's slots what it has used; constants stay, and come back where a kernel took them.
void clear_inputs(const PlanNode& p, const PlanFrame& frame, std::span<Value> inputs);

}  // namespace troupe
