// Collective ops of groups with one member, for which each of them is a copy. Larger groups are refused.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>

namespace troupe {
namespace {

Status check_group(std::int64_t size) {
  if (size <= 0) return invalid("group_size must be positive integer but got {}", size);
  if (size > 1) return unimplemented("Collective ops of groups with {} members are not supported", size);
  return absl::OkStatus();
}

/// Groups given by attributes; the size is checked when the node is bound.
struct Group {
  static StatusOr<Group> make(Binding& binding) {
    TRY_ASSIGN(const auto size, binding.attr<std::int64_t>("group_size"));
    TRY(check_group(size));
    return Group{};
  }
};

Status check_group(const Any& size, const Any& key, const Any& instance) {
  if (size->rank() != 0) return invalid("Unexpected dimensions on input group_size, got {}", size->shape());
  if (key->rank() != 0) return invalid("Unexpected dimensions on input group_key, got {}", key->shape());
  if (instance->rank() != 0) return invalid("Unexpected dimensions on input instance_key, got {}", instance->shape());
  return check_group(size->item<std::int32_t>());
}

Status no_source(std::int64_t instance) {
  return internal(
      "Collective ops is aborted by: Instance {} found no source for broadcast.  This could mean that there were group_size=1 BcastRecvs but no "
      "BcastSend.\nThe error could be from a previous operation. Restart your program to reset.",
      instance);
}

/// What a session of TensorFlow's says, which prepares for other collective ops only.
Status no_executor(Call& call, const std::string& kind) {
  return internal("Failed to get CollectiveExecutor from OpKernelContext for Op {}: {}", call.node().name, kind);
}

Status assign_group(Call& call, const In<std::int32_t>& assignment, const In<std::int32_t>& device, const In<std::int32_t>& base) {
  if (assignment.dims() != 2) return invalid("group_assignment must be a 2-d Tensor, but received tensor of shape: {}", assignment.shape());
  if (device.dims() != 0) return invalid("device_index must be a scalar, but received tensor of shape: {}", device.shape());
  if (base.dims() != 0) return invalid("base_key must be a scalar, but received tensor of shape: {}", base.shape());
  for (std::int64_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] != device[0]) continue;
    call.set_scalar<std::int32_t>(0, static_cast<std::int32_t>(assignment.dim(1)));
    call.set_scalar<std::int32_t>(1, static_cast<std::int32_t>(base[0] + i / assignment.dim(1)));
    return absl::OkStatus();
  }
  return invalid("device_index {} is not found in group_assignment {}", device[0], describe(assignment.tensor));
}

}  // namespace

void add_collectives(Registry& ops) {
  ops.add("CollectiveReduce", [](Call& call, Any x, State<Group>) { call.set(0, x.tensor); });
  ops.add("CollectiveGather", [](Call& call, Any x, State<Group>) -> Status {
    if (x->rank() == 0) return invalid("input should have rank > 0, recieved 0");
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
  ops.add("CollectiveBcastSend", [](Call& call, Any x, State<Group>, Attr<"shape", PartialShape> shape) -> Status {
    if (!shape->compatible_with(x->shape())) return internal("Declared shape of op {}: Broadcast(1) does not match shape of input", call.node().name);
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
  ops.add("CollectiveBcastRecv", [](Call&, State<Group>, Attr<"instance_key", std::int64_t> instance) { return no_source(*instance); });
  ops.add("CollectiveReduceV2", [](Call& call, Any x, Any size, Any key, Any instance, List) -> Status {
    TRY(check_group(size, key, instance));
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
  ops.add("CollectiveGatherV2", [](Call& call, Any x, Any size, Any key, Any instance, List) -> Status {
    TRY(check_group(size, key, instance));
    if (x->rank() == 0) return invalid("input should have rank > 0, recieved 0");
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
  ops.add("CollectiveBcastSendV2", [](Call& call, Any x, Any size, Any key, Any instance) -> Status {
    TRY(check_group(size, key, instance));
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
  ops.add("CollectiveBcastRecvV2", [](Call&, Any size, Any key, Any instance, Any) -> Status {
    TRY(check_group(size, key, instance));
    return no_source(instance->item<std::int32_t>());
  });
  ops.add("CollectiveReduceScatterV2", [](Call& call, Attr<"merge_op", std::string> merge, Attr<"final_op", std::string> finish) {
    return no_executor(call, fmt::format("ReduceScatterV2({},{})", *merge, *finish));
  });
  ops.add("CollectiveAllToAllV2", [](Call& call) { return no_executor(call, "AllToAllV2"); });
  ops.add("CollectiveAssignGroupV2", [](Call& call, In<std::int32_t> assignment, In<std::int32_t> device, In<std::int32_t> base) {
    return assign_group(call, assignment, device, base);
  });
}

}  // namespace troupe
