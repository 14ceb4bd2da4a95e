// The peer actor: a request becomes a call on the peer's channel, or a frame on the link where the peer is a Troupe node.
#include <troupe/actors/peer.hpp>

#include <troupe/actors/wire_codec.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/grpc_client.hpp>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/shared_memory.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_set>

namespace troupe {

std::string method_path(const char* service, const char* name) { return fmt::format("/tensorflow.{}Service/{}", service, name); }

namespace {

/// A probe must end to be asked again; all else waits as long as its asker does.
std::optional<std::chrono::milliseconds> deadline_of(const std::string& method) {
  if (method == "GetStatus") return std::chrono::milliseconds(1000);
  if (method == "DeleteWorkerSession" || method == "CleanupGraph" || method == "CleanupAll") return std::chrono::milliseconds(10'000);
  return std::nullopt;
}

/// The sender's incarnation in a rendezvous key; 0 when it cannot be told.
std::uint64_t incarnation_in(const std::string& key) {
  std::uint64_t incarnation = 0;
  const std::size_t begin = key.find(';');
  if (begin != std::string::npos) std::from_chars(key.data() + begin + 1, key.data() + key.size(), incarnation, 16);
  return incarnation;
}

enum class Road {
  unknown,     // not asked yet, or lost: calls, and a link when the peer answers one
  dialling,    // calls until the link stands
  link,        // runs, clean-up and tensors by link
  tensorflow,  // the peer knows no links
};

using RunPromise = caf::typed_response_promise<Parcel<RunGraphResponse>>;

/// What completions of calls touch, which may come after the actor's end.
struct Outgoing {
  std::unordered_map<std::uint64_t, std::shared_ptr<ClientCall>> calls;
  std::unordered_multiset<std::string> asking;  // sessions and tasks with a RecvTensor under way
  Road road = Road::unknown;
};

struct PeerState {
  PeerActor::pointer self = nullptr;
  std::unique_ptr<Channel> channel;
  Inbox inbox;
  LinkCountersPtr counters;
  std::shared_ptr<Outgoing> outgoing = std::make_shared<Outgoing>();

  // The link.
  std::uint64_t number = next_call_number();  // by which the inbox knows this peer
  std::shared_ptr<Stream> stream;
  std::set<std::uint64_t> incarnations;
  std::unordered_map<std::uint64_t, RunPromise> runs;
  struct Want {
    std::shared_ptr<const std::string> session;
    std::string task;
  };
  std::map<std::uint64_t, Want> wants;
  std::uint64_t last_want = 0;
  std::shared_ptr<SharedReader> memory;  // of the peer, where it is on this machine
  Descriptor invited_to;                 // where it is to bring it
  Invitation invitation;

  bool linked() const { return outgoing->road == Road::link; }

  template <class Request, class Response>
  caf::result<Parcel<Response>> forward(const char* name, Parcel<Request>& request, const std::string& asker = {}) {
    auto promise = self->make_response_promise<Parcel<Response>>();
    const std::uint64_t call_number = request.call;
    const std::string method = name;
    auto alive = caf::actor_cast<PeerActor>(self);
    // Only calls that may be repeated safely, or that nobody would miss, fail at once when the peer is away.
    auto call = channel->call(method_path("Worker", name), bytes_of(*request), deadline_of(method), /*wait_for_ready=*/false,
                              [promise, call_number, outgoing = outgoing, alive, method, asker](StatusOr<grpc::ByteBuffer> reply) mutable {
                                outgoing->calls.erase(call_number);
                                if (auto found = outgoing->asking.find(asker); found != outgoing->asking.end()) outgoing->asking.erase(found);
                                if (!reply.ok()) {
                                  promise.deliver(to_caf(reply.status()));
                                  return;
                                }
                                const bool asked = method == "GetStatus";
                                if (outgoing->road == Road::unknown || (asked && outgoing->road == Road::tensorflow))
                                  caf::anon_send(alive, PeerAnswers{asked});
                                auto response = decode<Response>(*reply);
                                if (!response.ok()) promise.deliver(to_caf(response.status()));
                                else promise.deliver(pack<Response>(*std::move(response)));
                              });
    if (call_number && call) outgoing->calls[call_number] = std::move(call);
    return promise;
  }

  void answers(bool asked) {
    // Who restarts may be somebody else: a GetStatus asks anew.
    if (outgoing->road != Road::unknown && !(asked && outgoing->road == Road::tensorflow)) return;
    outgoing->road = Road::dialling;
    auto dialled = channel->stream(link_path);
    listen(*dialled, caf::actor_cast<PeerActor>(self));
    stream = dialled;
    dialled->start();
  }

  void closed(const Status& why) {
    if (linked()) --counters->links;
    outgoing->road = why.code() == Code::kUnimplemented ? Road::tensorflow : Road::unknown;
    stream = nullptr;
    incarnations.clear();
    memory = nullptr;
    invited_to = Descriptor();
    wants.clear();
    auto open = std::move(runs);
    runs.clear();
    for (auto& [call, promise] : open) promise.deliver(to_caf(noted(why, "RunGraph")));
    self->send(inbox, PeerLost{number, noted(why, "RecvTensor")});
  }

  Status noted(const Status& status, const char* method) const { return channel->noted(status, method_path("Worker", method), channel->address()); }

  void arrived(const grpc::ByteBuffer& message) {
    auto frames = decode_link(message);
    if (!frames.ok()) {
      if (stream) stream->close(frames.status());
      return;
    }
    for (LinkFrame& frame : *frames) std::visit([this](auto& f) { handle(f); }, frame);
  }

  void handle(LinkHello& frame) {
    if (outgoing->road != Road::dialling) return;
    incarnations = {frame.incarnations.begin(), frame.incarnations.end()};
    outgoing->road = Road::link;
    ++counters->links;
    if (!frame.machine.empty() && frame.machine == machine_hint()) share_memory();
  }
  /// The peer seems to be on this machine: it is asked to prove that, and to bring its memory.
  void share_memory() {
    auto invited = invite();
    if (!invited.ok()) return;
    invited_to = std::move(invited->first);
    invitation = std::move(invited->second);
    write(stream->out(), LinkInvite{invitation.socket, invitation.secret});
    stream->commit(Stream::When::now);
  }
  void handle(LinkBrought&) {
    auto received = receive_memory(invited_to, invitation);
    invited_to = Descriptor();
    if (!received.ok()) return;
    memory = *std::move(received);
    write(stream->out(), LinkMapped{});
    stream->commit(Stream::When::now);
  }
  /// The tensor where the peer has put it; released when nobody holds it any more.
  bool find_place(LinkPush& frame) {
    const void* data = memory ? memory->at(frame.place->offset, frame.place->bytes) : nullptr;
    if (data == nullptr) return false;
    // Whoever holds it last, on whatever thread: the peer hears of it while this link stands.
    auto release = [memory = memory, link = std::weak_ptr<Stream>(stream), offset = frame.place->offset] {
      const auto open = link.lock();
      if (!open) return;
      open->post([offset](Stream& to) {
        write(to.out(), LinkRelease{offset});
        to.commit(Stream::When::along);
      });
    };
    auto& tensor = frame.value.tensor;
    tensor = Tensor(tensor.dtype(), tensor.shape(), borrow_buffer(data, frame.place->bytes, std::move(release)));
    return true;
  }
  void handle(LinkRan& frame) {
    auto found = runs.find(frame.call);
    if (found == runs.end()) return;  // cancelled meanwhile
    auto promise = std::move(found->second);
    runs.erase(found);
    promise.deliver(pack<RunGraphResponse>(std::move(frame.response)));
  }
  void handle(LinkPush& frame) {
    if (frame.place && !find_place(frame)) return stream->close(internal("A place outside of shared memory"));
    auto want = wants.find(frame.want);
    if (want == wants.end()) return void(++counters->dropped);
    self->send(inbox, PushedTensor{number, PutTensor{frame.step, std::move(frame.key), pack<RecvTensorResponse>(std::move(frame.value)),
                                                     want->second.session, frame.want}});
  }
  void handle(LinkAbort& frame) { self->send(inbox, PeerAborted{number, frame.step, noted(frame.reason, "RecvTensor")}); }
  /// Frames that only the other side may send.
  template <class Other>
  void handle(Other&) {}

  caf::result<Parcel<RunGraphResponse>> run(Parcel<RunGraphRequest>& request) {
    if (!linked()) return forward<RunGraphRequest, RunGraphResponse>("RunGraph", request);
    auto promise = self->make_response_promise<Parcel<RunGraphResponse>>();
    const std::uint64_t call = request.call ? request.call : next_call_number();
    request->request_id = 0;  // a stream repeats nothing
    runs.emplace(call, promise);
    write(stream->out(), call, *request);
    stream->commit(Stream::When::now);
    ++counters->runs_sent;
    return promise;
  }

  caf::result<Parcel<wire::CleanupGraphResponse>> clean_up(Parcel<wire::CleanupGraphRequest>& request) {
    if (!linked()) return forward<wire::CleanupGraphRequest, wire::CleanupGraphResponse>("CleanupGraph", request);
    write(stream->out(), LinkCleanup{request->step_id()});
    stream->commit(Stream::When::along);
    return pack<wire::CleanupGraphResponse>();
  }

  caf::result<Parcel<RecvTensorResponse>> fetch(FetchTensor& message) {
    const std::uint64_t incarnation = incarnation_in(message.request->rendezvous_key);
    // In doubt the peer is asked, and says what is wrong. While it is, nothing is wanted: what was asked for might be pushed.
    const std::string asker = message.session ? *message.session + message.task : std::string();
    const bool pushes = linked() && message.session && (incarnation == 0 || incarnations.contains(incarnation));
    if (!pushes || (outgoing->asking.contains(asker) && !wanted(message))) {
      ++counters->asked;
      if (message.session) outgoing->asking.insert(asker);
      return forward<RecvTensorRequest, RecvTensorResponse>("RecvTensor", message.request, asker);
    }
    if (!wanted(message)) want(message);
    return self->delegate(inbox, TakeTensor{std::move(message.request), number, std::move(message.session)});
  }

  bool wanted(const FetchTensor& message) const {
    return std::any_of(wants.begin(), wants.end(), [&](const auto& entry) {
      const Want& known = entry.second;
      return (known.session == message.session || *known.session == *message.session) && known.task == message.task;
    });
  }

  void want(const FetchTensor& message) {
    wants[++last_want] = {message.session, message.task};
    write(stream->out(), LinkWant{last_want, *message.session, message.task});
    stream->commit(Stream::When::activation_end);
  }

  void forget_session(const std::string& session) {
    std::erase_if(wants, [&](const auto& entry) {
      if (*entry.second.session != session) return false;
      write(stream->out(), LinkUnwant{entry.first});
      stream->commit(Stream::When::along);
      return true;
    });
  }

  void cancel(const CancelCall& message) {
    if (auto run = runs.find(message.call); run != runs.end()) {
      auto promise = std::move(run->second);
      runs.erase(run);
      write(stream->out(), LinkCancel{message.call});
      stream->commit(Stream::When::now);
      promise.deliver(to_caf(noted(make_status(Code::kCancelled, "CANCELLED"), "RunGraph")));
    } else if (auto found = outgoing->calls.find(message.call); found != outgoing->calls.end()) {
      const auto call = found->second;
      call->cancel();
    } else {
      self->send(inbox, message);
    }
  }
};

PeerActor::behavior_type peer(PeerActor::stateful_pointer<PeerState> self, Transport* transport, std::string task, std::string address, Inbox inbox,
                              LinkCountersPtr counters) {
  self->state.self = self;
  self->state.channel = std::make_unique<Channel>(std::move(address), *transport, std::move(task));
  self->state.inbox = std::move(inbox);
  self->state.counters = std::move(counters);
#define FORWARD(name) \
  [=](Asked<wire::name##Request>& r) { return self->state.forward<native<wire::name##Request>, native<wire::name##Response>>(#name, r); }
  return {
      [=](const CancelCall& message) { self->state.cancel(message); },
      FORWARD(GetStatus),
      FORWARD(CreateWorkerSession),
      FORWARD(DeleteWorkerSession),
      FORWARD(RegisterGraph),
      FORWARD(DeregisterGraph),
      [=](Asked<wire::RunGraphRequest>& r) { return self->state.run(r); },
      [=](Asked<wire::CleanupGraphRequest>& r) { return self->state.clean_up(r); },
      FORWARD(CleanupAll),
      FORWARD(RecvTensor),
      FORWARD(MarkRecvFinished),
      FORWARD(Logging),
      FORWARD(Tracing),
      FORWARD(RecvBuf),
      FORWARD(GetStepSequence),
      FORWARD(CompleteGroup),
      FORWARD(CompleteInstance),
      [=](FetchTensor& message) { return self->state.fetch(message); },
      [=](const ForgetSession& message) { self->state.forget_session(message.session); },
      [=](const PeerAnswers& message) { self->state.answers(message.asked); },
      [=](const LinkArrived& message) { self->state.arrived(*message.message); },
      [=](const LinkClosed& message) { self->state.closed(message.why); },
  };
#undef FORWARD
}

}  // namespace

PeerActor spawn_peer(caf::actor_system& system, Transport& transport, std::string task, std::string address, Inbox inbox, LinkCountersPtr counters) {
  return system.spawn(peer, &transport, std::move(task), std::move(address), std::move(inbox), std::move(counters));
}

}  // namespace troupe
