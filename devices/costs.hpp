// What kernels cost, by experience.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <troupe/ops/kernel.hpp>

namespace troupe {

/// How long the kernels of a plan took per input element. Kernels state what they cost before the first run, roughly; whether they are worth a
/// hand-off depends on sizes that only the runs show. Belongs to the device's actor.
class Costs {
 public:
  explicit Costs(std::size_t nodes) : learnt_(nodes, 0.0f) {}

  /// Nanoseconds that the node's next run will take.
  float expected(int node, const Kernel& kernel, std::int64_t elements) const {
    const float learnt = learnt_[static_cast<std::size_t>(node)];
    return static_cast<float>(elements) * (learnt > 0 ? learnt : kernel.ns_per_element);
  }
  /// Whether a run of the node was measured: what makes much of little, a Fill or a Tile, shows it only then.
  bool knows(int node) const { return learnt_[static_cast<std::size_t>(node)] > 0; }
  /// A run that was disturbed counts little and not for long: a hand-off that it brings about would cost the next ones as much again.
  void learn(int node, std::int64_t elements, std::int64_t took_ns) {
    float& learnt = learnt_[static_cast<std::size_t>(node)];
    const float now = static_cast<float>(std::max<std::int64_t>(1, took_ns)) / static_cast<float>(elements);
    learnt = learnt > 0 ? std::min(now, 0.9f * learnt + 0.1f * now) : now;
  }

 private:
  std::vector<float> learnt_;
};

}  // namespace troupe
