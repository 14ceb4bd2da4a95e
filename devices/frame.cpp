// Reuse of iterations.
#include <troupe/devices/frame.hpp>

#include <algorithm>

namespace troupe {
namespace {

// Of the root, which may be large, one for each of a few steps at once; of a loop as many as run beside each other.
constexpr std::size_t most_roots = 2, most_rounds = 16;

void put_presets(const PlanFrame& info, std::vector<Value>& slots) {
  for (const Preset& p : info.presets) slots[static_cast<std::size_t>(p.slot)] = Value(p.value);
}

}  // namespace

Iteration::Iteration(const PlanFrame& info) : slots(static_cast<std::size_t>(info.slots)), states(info.initial) { put_presets(info, slots); }

Spares::Spares(const std::vector<PlanFrame>& frames) : frames_(frames), spare_(frames.size()) {}

std::unique_ptr<Iteration> Spares::take(int frame) {
  auto& spare = spare_[static_cast<std::size_t>(frame)];
  if (spare.empty()) return std::make_unique<Iteration>(frames_[static_cast<std::size_t>(frame)]);
  auto iteration = std::move(spare.back());
  spare.pop_back();
  return iteration;
}

void Spares::give(int frame, std::unique_ptr<Iteration> iteration) {
  auto& spare = spare_[static_cast<std::size_t>(frame)];
  const PlanFrame& info = frames_[static_cast<std::size_t>(frame)];
  if (spare.size() >= (frame == 0 ? most_roots : most_rounds)) return;
  // Every node takes its inputs out when it runs; one that never ran may have some left.
  if (iteration->done != info.nodes) {
    for (Value& v : iteration->slots) v.reset();
    put_presets(info, iteration->slots);
  }
  std::copy(info.initial.begin(), info.initial.end(), iteration->states.begin());
  iteration->done = 0;
  iteration->active = 0;
  iteration->children.clear();
  spare.push_back(std::move(iteration));
}

void clear_inputs(const PlanNode& p, const PlanFrame& frame, std::span<Value> inputs) {
  if (p.presets == 0) {
    for (Value& v : inputs) v.reset();
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Value& v = inputs[i];
    if (i >= 64 || !(p.presets >> i & 1)) {
      v.reset();
      continue;
    }
    v.dead = false;
    if (v.tensor.buffer()) continue;
    const int slot = p.slots + static_cast<int>(i);
    auto preset = std::lower_bound(frame.presets.begin(), frame.presets.end(), slot, [](const Preset& a, int b) { return a.slot < b; });
    v.tensor = preset->value;
  }
}

}  // namespace troupe
