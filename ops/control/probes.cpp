// Ops by which graphs ask about the runtime: where a node runs, under which version and kernel, and whether stub resources work.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>

namespace troupe {

struct StubResource final : Resource {
  std::string describe() const override { return "stub"; }
};
template <>
struct resource_type<StubResource> {
  static constexpr const char* name = "N10tensorflow12StubResourceE";
};

namespace {

constexpr std::int32_t graph_version = 1645;

/// A node may name one of the kernels of its op.
StatusOr<Kernel> label_kernel(Binding& binding) {
  const auto* attr = binding.find("_kernel");
  const std::string label = attr && !attr->s().empty() ? attr->s() : "default";
  if (label != "default" && label != "overload_1" && label != "overload_2")
    return unimplemented(
        "No OpKernel was registered to support Op 'KernelLabel' used by {{{{node {}}}}} with these attrs: [_kernel=\"{}\"]\nRegistered devices: "
        "[CPU]\n"
        "Registered kernels:\n  device='CPU'; label='overload_2'\n  device='CPU'; label='overload_1'\n  device='CPU'\n",
        binding.node().name(), label);
  Kernel kernel;
  kernel.run = [label](Call& call) {
    call.set_scalar<std::string>(0, "My label is: " + label);
    return absl::OkStatus();
  };
  return kernel;
}

/// The position of this device's type among those named, or their number.
void device_index(Call& call, const std::vector<std::string>& names) {
  const auto at = std::find(names.begin(), names.end(), "CPU");
  call.set_scalar<std::int32_t>(0, static_cast<std::int32_t>(at - names.begin()));
}

Status create_stub(Step& step, const ResourceHandle& handle) {
  auto found = step.resources->find<StubResource>(handle);
  if (found.ok()) return already_exists("Resource {}/{}/{}", handle.container, handle.name, handle.type_name);
  if (found.status().code() != Code::kNotFound) return found.status();
  step.resources->put(handle.container, handle.name, resource_type<StubResource>::name, std::make_shared<StubResource>());
  return absl::OkStatus();
}

}  // namespace

void add_probes(Registry& ops) {
  ops.factory("KernelLabel", {}, label_kernel);
  ops.add("DeviceIndex", [](Call& call, Attr<"device_names", std::vector<std::string>> names) { device_index(call, *names); });
  ops.add("GraphDefVersion", [](Call& call) { call.set_scalar(0, graph_version); });
  ops.add("Old", [](Call&) {});
  // Only graphs that run in the client's own process are told of its deadline.
  ops.add("GetDeadline", [](Call&) { return invalid("Deadline has not ben set."); });

  ops.add("StubResourceHandleOp", [](Call& call, Step& step, State<Exit> exit) { exit->give<StubResource>(call, step); });
  ops.add("ResourceCreateOp", [](Call&, Step& step, Handle handle) { return create_stub(step, handle.handle); });
  ops.add("ResourceUsingOp", [](Call&, Held<StubResource>) {});
  ops.add("ResourceInitializedOp",
          [](Call& call, Step& step, Handle handle) { call.set_scalar(0, step.resources->find<StubResource>(handle.handle).ok()); });
}

}  // namespace troupe
