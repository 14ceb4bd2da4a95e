// Send and Recv: the ends of an edge that was cut between devices, or between client and graph.
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

}  // namespace

void add_transfer(Registry& ops) {
  ops.add({"_Send", "_HostSend"}, [](Call& call, Any, State<TransferKey> key, Step& step) {
    Value value(call.in(0));
    value.dead = call.input_value(0).dead;
    return step.rendezvous->send(key->at(call.tag()), std::move(value));
  });
  ops.add({"_Recv", "_HostRecv"}, [](Call& call, State<TransferKey> key, Step& step, Done done) {
    step.rendezvous->receive(key->at(call.tag()), [&call, done = std::move(done)](StatusOr<Value> value) {
      if (!value.ok()) return done(value.status());
      call.output_value(0) = *std::move(value);
      done(absl::OkStatus());
    });
  });
}

}  // namespace troupe
