// The guest actor: one per accepted link.
#include <troupe/actors/guest.hpp>

#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/shared_memory.hpp>

#include <unordered_map>

namespace troupe {
namespace {

/// From here on a tensor is worth the way through shared memory.
constexpr std::size_t bulk_from = 16 * 1024;

/// A message of gRPC must stay below 2 GiB.
constexpr std::size_t message_limit = 2'000'000'000;

bool is_bulk(const RecvTensorResponse& value) {
  const DType dtype = value.tensor.dtype();
  return !value.is_dead && value.tensor.valid() && !is_object(dtype) && dtype != DType::boolean && value.tensor.bytes() >= bulk_from;
}

struct GuestState {
  Guest::pointer self = nullptr;
  GuestHost host;
  std::shared_ptr<Stream> stream;
  std::unordered_map<std::uint64_t, std::uint64_t> open;  // the guest's numbers of calls to ours
  Status closing;
  std::unique_ptr<SharedWriter> memory;
  bool memory_mapped = false;

  void greet() {
    listen(*stream, caf::actor_cast<Guest>(self));
    write(stream->out(), LinkHello{host.incarnations, machine_hint()});
    stream->commit(Stream::When::activation_end);
    ++host.counters->guests;
  }

  void arrived(const grpc::ByteBuffer& message) {
    auto frames = decode_link(message);
    if (!frames.ok()) return stream->close(frames.status());
    for (LinkFrame& frame : *frames) std::visit([this](auto& f) { handle(f); }, frame);
  }

  void handle(LinkRun& frame) {
    ++host.counters->runs_served;
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
  void handle(LinkWant& frame) {
    self->send(host.rendezvous, WantPushes{std::move(frame.session), std::move(frame.task), frame.number, caf::actor_cast<Pushes>(self)});
  }
  void handle(LinkUnwant& frame) { self->send(host.rendezvous, UnwantPushes{frame.number, caf::actor_cast<Pushes>(self)}); }
  /// The guest is on this machine, it thinks: bring it memory where it says it waits.
  void handle(LinkInvite& frame) {
    if (memory) return;
    auto made = SharedWriter::create();
    if (!made.ok() || !send_memory({frame.socket, frame.secret}, (*made)->descriptor()).ok()) return;
    memory = *std::move(made);
    write(stream->out(), LinkBrought{});
    stream->commit(Stream::When::now);
  }
  void handle(LinkMapped&) { memory_mapped = memory != nullptr; }
  void handle(LinkRelease& frame) {
    if (memory) memory->release(frame.offset);
  }
  /// Frames that only this side may send.
  template <class Other>
  void handle(Other&) {}

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

  void push(const PutTensor& message) {
    std::optional<LinkPlace> place;
    if (memory_mapped && memory && is_bulk(*message.value))
      if (const auto offset = memory->put(message.value->tensor.raw(), message.value->tensor.bytes()))
        place = LinkPlace{*offset, message.value->tensor.bytes()};
    if (place) ++host.counters->shared;
    else if (message.value->tensor.valid() && message.value->tensor.bytes() > message_limit)
      return abort({message.step,
                    resource_exhausted("A tensor of {} bytes for {} is more than a message can carry", message.value->tensor.bytes(), message.key),
                    ""});
    write_push(stream->out(), message.want, message.step, message.key, *message.value, place);
    stream->commit(Stream::When::activation_end);
  }
  void abort(const AbortStep& message) {
    write(stream->out(), LinkAbort{message.step, message.reason});
    stream->commit(Stream::When::activation_end);
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
    self->send(host.rendezvous, PushesLost{caf::actor_cast<Pushes>(self), why});
    --host.counters->guests;
    self->quit();
  }
};

Guest::behavior_type guest(Guest::stateful_pointer<GuestState> self, GuestHost host, std::shared_ptr<Stream> stream) {
  self->state.self = self;
  self->state.host = std::move(host);
  self->state.stream = std::move(stream);
  self->state.greet();
  return {
      [=](const PutTensor& message) { self->state.push(message); },
      [=](const AbortStep& message) { self->state.abort(message); },
      [=](const LinkArrived& message) { self->state.arrived(*message.message); },
      [=](const LinkClosed& message) { self->state.closed(message.why); },
      [=](const Close& message) { self->state.close(message); },
  };
}

}  // namespace

Guest spawn_guest(caf::actor_system& system, GuestHost host, std::shared_ptr<Stream> stream) {
  return system.spawn(guest, std::move(host), std::move(stream));
}

}  // namespace troupe
