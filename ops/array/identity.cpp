// Ops that hand on what they get, or nothing.
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// The message names the edge, so the kernel is bound by hand to have it.
StatusOr<Kernel> ensure_shape(Binding& binding) {
  TRY_ASSIGN(const PartialShape expected, binding.attr<PartialShape>("shape"));
  std::string edge = binding.node().input_size() > 0 ? binding.node().input(0) : std::string("input");
  if (edge.ends_with(":0")) edge.resize(edge.size() - 2);
  Kernel kernel;
  kernel.run = [expected, edge](Call& call) -> Status {
    if (!expected.compatible_with(call.in(0).shape()))
      return invalid("Shape of tensor {} {} is not compatible with expected shape {}.", edge, call.in(0).shape(), expected);
    call.set(0, call.in(0));
    return absl::OkStatus();
  };
  return kernel;
}

}  // namespace

void add_identity(Registry& ops) {
  ops.add({"Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault", "DebugGradientIdentity", "_EagerConst"},
          [](Call& call, Any x) { call.set(0, x.tensor); });
  ops.add("IdentityN", [](Call& call, List xs) {
    for (int i = 0; i < xs.size(); ++i) call.set(i, xs[i]);
  });
  ops.add("GuaranteeConst", [](Call& call, Any x) -> Status {
    if (x->dtype() == DType::resource) return invalid("Input tensor cannot be a resource variable handle.");
    call.set(0, x.tensor);
    return absl::OkStatus();
  });
  ops.add({"DeepCopy", "Copy", "CopyHost"}, [](Call& call, Any x) { call.set(0, x->copy()); });
  // The executor passes the reference on.
  ops.add("RefSelect", [](Call& call, Any index, List refs) -> Status {
    if (index->rank() != 0) return invalid("Index must be a scalar, but it has shape {}", index->shape());
    const std::int32_t at = index->item<std::int32_t>();
    if (at < 0 || at >= refs.size()) return invalid("Index must be in the range [0, {}) but got {}", refs.size(), at);
    call.output_value(0).ref = call.input_value(refs.first + at).ref;
    return absl::OkStatus();
  });
  ops.add({"RefIdentity", "DebugGradientRefIdentity"}, [](Call&) {});
  ops.add({"NoOp", "ControlTrigger"}, [](Call&) {});
  ops.factory("EnsureShape", {}, ensure_shape);
}

}  // namespace troupe
