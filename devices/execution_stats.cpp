// What a step's record says of a node: when it ran, on what, and what it made.
#include <troupe/devices/execution.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/messaging/wall_clock.hpp>

#include <algorithm>

namespace troupe {
namespace {

constexpr const char* allocator = "cpu";

void describe(const Tensor& tensor, wire::TensorDescription* to) {
  to->set_dtype(static_cast<wire::DataType>(tensor.dtype()));
  to_proto(tensor.shape(), to->mutable_shape());
  auto* memory = to->mutable_allocation_description();
  const auto bytes = static_cast<std::int64_t>(tensor.bytes());
  memory->set_requested_bytes(bytes);
  memory->set_allocated_bytes(bytes);
  memory->set_allocator_name(allocator);
}

/// TensorFlow records transfers between devices apart from nodes.
bool is_transfer(const std::string& op) { return op == "_Send" || op == "_Recv" || op == "_HostSend" || op == "_HostRecv"; }

}  // namespace

void Execution::note(const NodeFacts& node, const std::string& operands, std::int64_t started, std::span<const Value> outputs) {
  if (is_transfer(node.op)) return;
  auto* s = stats_->add_node_stats();
  const std::int64_t took = std::max<std::int64_t>(1, now_micros() - started);
  s->set_node_name(node.name);
  s->set_timeline_label(fmt::format("{} = {}({})", node.name, node.op, operands));
  s->set_scheduled_micros(started);
  s->set_scheduled_nanos(started * 1000);
  s->set_all_start_micros(started);
  s->set_all_start_nanos(started * 1000);
  s->set_op_end_rel_micros(took);
  s->set_op_end_rel_nanos(took * 1000);
  s->set_all_end_rel_micros(took);
  s->set_all_end_rel_nanos(took * 1000);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool held = outputs[i].ref != nullptr;  // by a variable, and not made by this node
    const Tensor& tensor = held ? outputs[i].ref->snapshot() : outputs[i].tensor;
    if (!tensor.valid()) continue;
    auto* output = s->add_output();
    output->set_slot(static_cast<std::int32_t>(i));
    describe(tensor, output->mutable_tensor_description());
    if (!held) bytes += static_cast<std::int64_t>(tensor.bytes());
  }
  if (bytes == 0) return;
  auto* memory = s->add_memory();
  memory->set_allocator_name(allocator);
  memory->set_total_bytes(bytes);
  memory->set_peak_bytes(bytes);
  memory->set_live_bytes(bytes);
}

}  // namespace troupe
