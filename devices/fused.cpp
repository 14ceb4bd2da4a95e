// Runs of fused nodes.
#include <troupe/devices/fused.hpp>

#include <troupe/devices/kernel_run.hpp>
#include <troupe/messaging/wall_clock.hpp>

#include <algorithm>

namespace troupe {
namespace {

using Kind = RowProgram::Operand::Kind;

std::vector<RowProgram::Instruction> instructions_of(const std::vector<Fused::Member>& members) {
  std::vector<RowProgram::Instruction> all;
  for (const auto& m : members) all.push_back({m.node.kernel->row, m.inputs[0], m.inputs[m.inputs.size() - 1]});
  return all;
}

}  // namespace

Fused::Fused(std::vector<Member> members, std::vector<Tensor> constants, int inputs)
    : members_(std::move(members)), constants_(std::move(constants)), inputs_(inputs), program_(instructions_of(members_), constants_, inputs) {
  // From the end: whoever comes first there reads last.
  std::vector<bool> input_read(static_cast<std::size_t>(inputs), false), result_read(members_.size(), false);
  for (auto m = members_.rbegin(); m != members_.rend(); ++m) {
    m->last.resize(m->inputs.size());
    for (std::size_t k = m->inputs.size(); k-- > 0;) {
      const Operand& o = m->inputs[k];
      if (o.kind == Kind::constant) continue;
      auto read = (o.kind == Kind::input ? input_read : result_read)[static_cast<std::size_t>(o.index)];
      m->last[k] = !read;
      read = true;
    }
  }
}

float Fused::ns_per_element() const {
  float ns = 0;
  for (const Member& m : members_) ns += m.node.kernel->ns_per_element * static_cast<float>(m.inputs.size());
  return ns / static_cast<float>(std::max(1, inputs_));
}

Status Fused::run(Call& call) const {
  try {
    if (program_.run(call)) return absl::OkStatus();
  } catch (const OutOfMemory& e) {
    return told_by(members_.back().node, out_of_memory(e, call.node()));
  }
  return run_members(call, nullptr);
}

Value Fused::operand(Call& call, std::vector<Value>& results, const Operand& from, bool last) const {
  const auto index = static_cast<std::size_t>(from.index);
  if (from.kind == Kind::constant) return constants_[index];
  Value& value = from.kind == Kind::input ? call.input_value(from.index) : results[index];
  return last ? std::move(value) : value;
}

Status Fused::run_members(Call& call, const Note& note) const {
  std::vector<Value> results(members_.size()), inputs;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    inputs.clear();
    for (std::size_t k = 0; k < m.inputs.size(); ++k) inputs.push_back(operand(call, results, m.inputs[k], m.last[k]));
    const std::int64_t started = note ? now_micros() : 0;
    const std::span<Value> output(&results[i], 1);
    Call of_member(m.node.facts, inputs, output, call.step(), call.tag());
    if (Status status = run_kernel(*m.node.kernel, of_member); !status.ok()) return told_by(m.node, std::move(status));
    if (note) note(m.node, started, output);
  }
  call.output_value(0) = std::move(results.back());
  return absl::OkStatus();
}

}  // namespace troupe
