// Where a variable lives.
#include <troupe/actors/embed/versions.hpp>

#include <troupe/messaging/handle.hpp>

namespace troupe::embed {

StatusOr<Versions> Versions::Subscribed::operator()(Parcel<RunStepResponse>& reply) const {
  TRY_ASSIGN(const auto values, fetched(reply));
  const Tensor& tensor = values.front();
  if (tensor.dtype() != DType::resource || tensor.size() != 1) return internal("A variable's handle is no handle");
  const auto& handle = tensor.item<ResourceHandle>();
  Device device = fetched.session->door->device(handle.device);
  if (!device) return unimplemented("{} lives on {}, in another process, which tells no versions", handle.name, handle.device);
  Versions versions;
  versions.state_ = std::make_shared<State>();
  versions.state_->session = Session::of(fetched.session);
  versions.state_->device = std::move(device);
  versions.state_->container = handle.container;
  versions.state_->name = handle.name;
  return versions;
}

}  // namespace troupe::embed
