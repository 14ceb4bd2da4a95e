// The guest actor: one per accepted link.
#include <troupe/actors/guest.hpp>

#include <troupe/actors/link_consumer.hpp>
#include <troupe/actors/link_producer.hpp>
#include <troupe/messaging/caf_status.hpp>

#include <optional>
#include <unordered_map>

namespace troupe {
namespace {

struct GuestState {
  GuestState(Guest::pointer s, GuestHost h, std::shared_ptr<Stream> accepted)
      : self(s),
        host(std::move(h)),
        stream(std::move(accepted)),
        producer(host.link.rendezvous, host.link.counters),
        consumer(host.link.inbox, host.link.counters) {}

  Guest::pointer self;
  GuestHost host;
  std::shared_ptr<Stream> stream;
  LinkProducer producer;
  LinkConsumer consumer;
  std::unordered_map<std::uint64_t, std::uint64_t> open;  // the guest's numbers of calls to ours
  Status closing;

  void greet() {
    listen(*stream, caf::actor_cast<Guest>(self));
    write(stream->out(), LinkHello{host.link.incarnations, machine_hint()});
    stream->commit(Stream::When::activation_end);
    producer.open(stream, caf::actor_cast<caf::strong_actor_ptr>(self));
    ++host.link.counters->guests;
  }

  void arrived(const grpc::ByteBuffer& message) {
    auto frames = decode_link(message);
    if (!frames.ok()) return stream->close(frames.status());
    for (LinkFrame& frame : *frames) std::visit([this](auto& f) { handle(f); }, frame);
    consumer.deliver();
  }

  void handle(LinkHello& frame) {
    self->send(host.link.inbox, LinkLent{frame.incarnations, caf::actor_cast<Guest>(self)});
    consumer.open(stream, std::move(frame));
  }
  void handle(LinkRun& frame) {
    ++host.link.counters->runs_served;
    if (!closing.ok()) return answer(frame.call, failed(closing));
    auto request = pack<RunGraphRequest>(std::move(frame.request));
    request.call = open[frame.call] = next_call_number();
    self->request(host.worker, caf::infinite, std::move(request))
        .then([this, call = frame.call](Parcel<RunGraphResponse>& response) { answer(call, *response); },
              [this, call = frame.call](caf::error& error) { answer(call, failed(from_caf(error))); });
  }
  void handle(LinkCancel& frame) { cancel(frame.call, cancelled("The client has gone away or its deadline has passed.")); }
  void handle(LinkCleanup& frame) {
    auto cleanup = pack<wire::CleanupGraphRequest>();
    cleanup->set_step_id(frame.step);
    self->request(host.worker, caf::infinite, std::move(cleanup)).then([](Parcel<wire::CleanupGraphResponse>&) {}, [](caf::error&) {});
  }
  void handle(LinkRan&) {}  // runs are not asked of who has dialled
  template <class Frame>
  void handle(Frame& frame) {
    if constexpr (requires { producer.handle(frame); }) producer.handle(frame);
    else consumer.handle(frame);
  }

  void lend(Borrow& message) {
    consumer.tell_with(std::move(message.noted));
    consumer.share_memory();
  }
  static RunGraphResponse failed(const Status& why) {
    RunGraphResponse response;
    response.status = why;
    return response;
  }

  void answer(std::uint64_t call, const RunGraphResponse& response) {
    open.erase(call);
    write(stream->out(), call, response);
    stream->commit(Stream::When::activation_end);
    leave_when_idle();
  }

  void cancel(std::uint64_t call, const Status& reason) {
    if (auto found = open.find(call); found != open.end()) self->send(host.worker, CancelCall{found->second, reason});
  }
  void cancel_open(const Status& reason) {
    for (const auto& [theirs, ours] : open) self->send(host.worker, CancelCall{ours, reason});
  }

  void close(const Close& message) {
    closing = message.reason;
    if (message.cancel_open) cancel_open(message.reason);
    leave_when_idle();
  }
  void leave_when_idle() {
    if (!closing.ok() && open.empty()) stream->close(closing);
  }

  void closed(const Status& why) {
    cancel_open(cancelled("The client has gone away or its deadline has passed."));
    self->send(host.link.inbox, LinkTakenBack{caf::actor_cast<Guest>(self)});
    producer.closed(why);
    consumer.closed(why);
    --host.link.counters->guests;
    self->quit();
  }
};

Guest::behavior_type guest(Guest::stateful_pointer<std::optional<GuestState>> self, GuestHost host, std::shared_ptr<Stream> stream) {
  GuestState& state = self->state.emplace(self, std::move(host), std::move(stream));
  state.greet();
  return {
      [&state](Borrow& message) { state.lend(message); },
      [&state](FetchTensors& message) { return state.consumer.take(std::move(message)); },
      [&state](const ForgetSession& message) { state.consumer.forget_session(message.session); },
      [&state](const PutTensors& message) { state.producer.push(message); },
      [&state](const AbortStep& message) { state.producer.abort(message); },
      [&state](const LinkArrived& message) { state.arrived(*message.message); },
      [&state](const LinkClosed& message) { state.closed(message.why); },
      [&state](const Close& message) { state.close(message); },
  };
}

}  // namespace

Guest spawn_guest(caf::actor_system& system, GuestHost host, std::shared_ptr<Stream> stream) {
  return system.spawn(guest, std::move(host), std::move(stream));
}

}  // namespace troupe
