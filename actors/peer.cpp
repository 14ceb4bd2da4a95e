// The peer actor: every request becomes one call on the peer's channel.
#include <troupe/actors/peer.hpp>

#include <troupe/actors/wire_codec.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/grpc_client.hpp>

#include <unordered_map>

namespace troupe {

std::string method_path(const char* service, const char* name) { return fmt::format("/tensorflow.{}Service/{}", service, name); }

namespace {

/// A probe must end to be asked again; all else waits as long as its asker does.
std::optional<std::chrono::milliseconds> deadline_of(const std::string& method) {
  if (method == "GetStatus") return std::chrono::milliseconds(1000);
  if (method == "DeleteWorkerSession" || method == "CleanupGraph" || method == "CleanupAll") return std::chrono::milliseconds(10'000);
  return std::nullopt;
}

struct PeerState {
  Worker::pointer self = nullptr;
  std::unique_ptr<Channel> channel;
  std::shared_ptr<std::unordered_map<std::uint64_t, std::shared_ptr<ClientCall>>> calls =
      std::make_shared<std::unordered_map<std::uint64_t, std::shared_ptr<ClientCall>>>();

  template <class Request, class Response>
  caf::result<Parcel<Response>> forward(const char* name, Parcel<Request>& request) {
    auto promise = self->make_response_promise<Parcel<Response>>();
    const std::uint64_t number = request.call;
    const std::string method = name;
    // Only calls that may be repeated safely, or that nobody would miss, fail at once when the peer is away.
    auto call = channel->call(method_path("Worker", name), bytes_of(*request), deadline_of(method), /*wait_for_ready=*/false,
                              [promise, number, calls = calls](StatusOr<grpc::ByteBuffer> reply) mutable {
                                calls->erase(number);
                                if (!reply.ok()) {
                                  promise.deliver(to_caf(reply.status()));
                                  return;
                                }
                                auto response = decode<Response>(*reply);
                                if (!response.ok()) promise.deliver(to_caf(response.status()));
                                else promise.deliver(pack<Response>(*std::move(response)));
                              });
    if (number && call) (*calls)[number] = std::move(call);
    return promise;
  }

  void cancel(const CancelCall& message) {
    auto found = calls->find(message.call);
    if (found == calls->end()) return;
    auto call = found->second;
    call->cancel();
  }
};

Worker::behavior_type peer(Worker::stateful_pointer<PeerState> self, Loop* loop, std::string task, std::string address) {
  self->state.self = self;
  self->state.channel = std::make_unique<Channel>(std::move(address), *loop, std::move(task));
#define FORWARD(name) \
  [=](Asked<wire::name##Request>& r) { return self->state.forward<native<wire::name##Request>, native<wire::name##Response>>(#name, r); }
  return {
      [=](const CancelCall& message) { self->state.cancel(message); },
      FORWARD(GetStatus),
      FORWARD(CreateWorkerSession),
      FORWARD(DeleteWorkerSession),
      FORWARD(RegisterGraph),
      FORWARD(DeregisterGraph),
      FORWARD(RunGraph),
      FORWARD(CleanupGraph),
      FORWARD(CleanupAll),
      FORWARD(RecvTensor),
      FORWARD(MarkRecvFinished),
      FORWARD(Logging),
      FORWARD(Tracing),
      FORWARD(RecvBuf),
      FORWARD(GetStepSequence),
      FORWARD(CompleteGroup),
      FORWARD(CompleteInstance),
  };
#undef FORWARD
}

}  // namespace

Worker spawn_peer(caf::actor_system& system, Loop& loop, std::string task, std::string address) {
  return system.spawn(peer, &loop, std::move(task), std::move(address));
}

}  // namespace troupe
