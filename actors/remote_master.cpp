// The remote master actor: a request becomes a call.
#include <troupe/actors/remote_master.hpp>

#include <troupe/actors/wire_codec.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/grpc_client.hpp>

#include <memory>
#include <unordered_map>

namespace troupe {
namespace {

using Calls = std::unordered_map<std::uint64_t, std::shared_ptr<ClientCall>>;

struct RemoteState {
  Master::pointer self = nullptr;
  std::unique_ptr<Channel> channel;
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();  // completions may come after the actor's end

  template <class Request, class Response>
  caf::result<Parcel<Response>> forward(const char* name, Parcel<Request>& request) {
    auto promise = self->make_response_promise<Parcel<Response>>();
    const std::uint64_t number = request.call;
    constexpr bool patient = std::is_same_v<Request, wire::CreateSessionRequest>;
    auto call = channel->call(method_path("Master", name), bytes_of(*request), std::nullopt, patient,
                              [promise, number, calls = calls, alive = caf::actor_cast<Master>(self)](StatusOr<grpc::ByteBuffer> reply) mutable {
                                calls->erase(number);
                                if (!reply.ok()) return (void)promise.deliver(to_caf(reply.status()));
                                auto response = decode<Response>(*reply);
                                if (response.ok()) promise.deliver(pack<Response>(*std::move(response)));
                                else promise.deliver(to_caf(response.status()));
                              });
    if (number != 0) (*calls)[number] = std::move(call);
    return promise;
  }

  void cancel(std::uint64_t number) {
    if (auto found = calls->find(number); found != calls->end()) found->second->cancel();
  }
};

Master::behavior_type remote_master(Master::stateful_pointer<RemoteState> self, Transport* transport, std::string address) {
  self->state.self = self;
  self->state.channel = std::make_unique<Channel>(std::move(address), *transport);
#define FORWARD(name) \
  [=](Asked<wire::name##Request>& r) { return self->state.forward<native<wire::name##Request>, native<wire::name##Response>>(#name, r); }
  return {
      [=](const CancelCall& message) { self->state.cancel(message.call); },
      FORWARD(CreateSession),
      FORWARD(ExtendSession),
      FORWARD(PartialRunSetup),
      FORWARD(RunStep),
      FORWARD(CloseSession),
      FORWARD(ListDevices),
      FORWARD(Reset),
      FORWARD(MakeCallable),
      FORWARD(RunCallable),
      FORWARD(ReleaseCallable),
  };
#undef FORWARD
}

}  // namespace

Master spawn_remote_master(caf::actor_system& system, Transport& transport, std::string address) {
  return system.spawn(remote_master, &transport, std::move(address));
}

}  // namespace troupe
