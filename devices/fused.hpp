// A group of element-wise nodes as one kernel.
#pragma once

#include <troupe/devices/plan.hpp>
#include <troupe/ops/row_program.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace troupe {

/// Runs its members' row forms in one go where shapes allow that, and their kernels one by one otherwise. Errors name the member.
class Fused {
 public:
  using Operand = RowProgram::Operand;
  struct Member {
    PlanNode node;
    std::vector<Operand> inputs;
    std::vector<bool> last;  // nobody reads the input after this
  };

  Fused(std::vector<Member> members, std::vector<Tensor> constants, int inputs);

  Status run(Call& call) const;

  using Note = std::function<void(const PlanNode& member, std::int64_t started, std::span<const Value> outputs)>;
  /// One by one, with a note of each.
  Status run_members(Call& call, const Note& note) const;

  /// What all of it costs for an element of the inputs, roughly.
  float ns_per_element() const;

 private:
  Value operand(Call& call, std::vector<Value>& results, const Operand& from, bool last) const;

  std::vector<Member> members_;
  std::vector<Tensor> constants_;
  int inputs_;
  RowProgram program_;
};

}  // namespace troupe
