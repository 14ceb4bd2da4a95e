// Send and Recv: the ends of an edge that was cut between devices, or between client and graph.
#include <troupe/ops/containers/session_tensors.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/variable.hpp>

namespace troupe {
namespace {

/// The part of a rendezvous key that does not change from step to step.
struct TransferKey {
  std::string prefix;

  static StatusOr<TransferKey> make(Binding& binding) {
    TRY_ASSIGN(const auto from, binding.attr<std::string>("send_device"));
    TRY_ASSIGN(const auto to, binding.attr<std::string>("recv_device"));
    TRY_ASSIGN(const auto tensor, binding.attr<std::string>("tensor_name"));
    TRY_ASSIGN(const auto incarnation, binding.attr<std::int64_t>("send_device_incarnation"));
    return TransferKey{fmt::format("{};{:016x};{};{};", from, static_cast<std::uint64_t>(incarnation), to, tensor)};
  }
  std::string at(Tag tag) const {
    if (tag.frame == 0 && tag.iteration == 0) return prefix + "0:0";
    return fmt::format("{}{}:{}", prefix, tag.frame, tag.iteration);
  }
};

/// A client may feed the handle of a tensor that an earlier step left here in place of the tensor.
bool stands_for_a_tensor(const Value& value, DType wanted) {
  if (value.dead || wanted == DType::resource || !value.tensor.valid() || value.tensor.dtype() != DType::resource || value.tensor.size() != 1)
    return false;
  return value.tensor.values<ResourceHandle>()[0].container == kept_tensor_container;
}

}  // namespace

void add_transfer(Registry& ops) {
  ops.add({"_Send", "_HostSend"}, [](Call& call, Any, State<TransferKey> key, Step& step) {
    Value value(call.in(0));
    value.dead = call.input_value(0).dead;
    return step.rendezvous->send(key->at(call.tag()), std::move(value));
  });
  ops.add({"_Recv", "_HostRecv"}, [](Call& call, State<TransferKey> key, Step& step, Attr<"tensor_type", DType> type, Done done) {
    step.rendezvous->receive(key->at(call.tag()), [&call, &step, wanted = *type, done = std::move(done)](StatusOr<Value> value) {
      if (!value.ok()) return done(value.status());
      if (stands_for_a_tensor(*value, wanted)) {
        auto kept = kept_tensor(step, value->tensor.values<ResourceHandle>()[0]);
        if (!kept.ok()) return done(kept.status());
        value->tensor = *std::move(kept);
      }
      call.output_value(0) = *std::move(value);
      done(absl::OkStatus());
    });
  });
}

}  // namespace troupe
