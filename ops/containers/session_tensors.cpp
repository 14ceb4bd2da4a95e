// Tensors that stay on their device between steps, known to the client by a handle.
#include <troupe/ops/containers/session_tensors.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/store.hpp>

namespace troupe {
namespace {

struct KeptTensor final : Resource {
  explicit KeptTensor(Tensor t) : tensor(std::move(t)) {}
  std::string describe() const override { return fmt::format("tensor of a session, {} {}", name_of(tensor.dtype()), tensor.shape()); }
  Tensor tensor;
};

}  // namespace

template <>
struct resource_type<KeptTensor> {
  static constexpr const char* name = "session tensor";
};

namespace {

/// Keeps a tensor under a name that no other has.
std::string keep(Call& call, Step& step, const Tensor& tensor) {
  std::string handle = fmt::format("{};{};{}", call.node().name, step.resources->next_number(), step.device);
  step.resources->put(step.resources->default_container(), handle, resource_type<KeptTensor>::name, std::make_shared<KeptTensor>(tensor));
  return handle;
}

Status unknown_handle(const std::string& handle) { return invalid("The tensor with handle '{}' is not in the session store.", handle); }

}  // namespace

StatusOr<Tensor> kept_tensor(Step& step, const ResourceHandle& handle) {
  const auto kept = step.resources->find<KeptTensor>(step.resources->default_container(), handle.name);
  if (!kept.ok()) return unknown_handle(handle.name);
  return (*kept)->tensor;
}

void add_session_tensors(Registry& ops) {
  ops.add("GetSessionHandle", [](Call& call, Step& step, Any value) { call.set_scalar<std::string>(0, keep(call, step, value.tensor)); });
  ops.add("GetSessionHandleV2", [](Call& call, Step& step, Any value) {
    ResourceHandle handle;
    handle.device = step.device;
    handle.container = "";
    handle.name = keep(call, step, value.tensor);
    handle.type_name = "N10tensorflow14ResourceHandleE";
    call.set(0, Tensor::scalar<ResourceHandle>(std::move(handle)));
  });
  ops.add("GetSessionTensor", [](Call& call, Step& step, Scalar<std::string> handle, Attr<"dtype", DType> dtype) -> Status {
    const auto kept = step.resources->find<KeptTensor>(step.resources->default_container(), *handle);
    if (!kept.ok()) return unknown_handle(*handle);
    if ((*kept)->tensor.dtype() != *dtype)
      return invalid("The tensor with handle '{}' is of type {}, not {}", *handle, name_of((*kept)->tensor.dtype()), name_of(*dtype));
    call.set(0, (*kept)->tensor);
    return absl::OkStatus();
  });
  ops.add("DeleteSessionTensor", [](Call&, Step& step, Scalar<std::string> handle) -> Status {
    if (!step.resources->erase(step.resources->default_container(), *handle, resource_type<KeptTensor>::name).ok())
      return invalid("Failed to delete a tensor with handle '{}' in the session store.", *handle);
    return absl::OkStatus();
  });
}

}  // namespace troupe
