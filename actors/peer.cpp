// The peer actor: a request becomes a call on the peer's channel, or a frame on the link where the peer is a Troupe node.
#include <troupe/actors/peer.hpp>

#include <troupe/actors/link_consumer.hpp>
#include <troupe/actors/link_producer.hpp>
#include <troupe/actors/wire_codec.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/grpc_client.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

namespace troupe {

/// The peer answers calls: a good moment to ask it for a link. `asked` when it was a GetStatus.
struct PeerAnswers {
  bool asked = false;
};

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerAnswers)

namespace troupe {

std::string method_path(const char* service, const char* name) { return fmt::format("/tensorflow.{}Service/{}", service, name); }

namespace {

/// A probe must end to be asked again; all else waits as long as its asker does.
std::optional<std::chrono::milliseconds> deadline_of(const std::string& method) {
  if (method == "GetStatus") return std::chrono::milliseconds(1000);
  if (method == "DeleteWorkerSession" || method == "CleanupGraph" || method == "CleanupAll") return std::chrono::milliseconds(10'000);
  return std::nullopt;
}

/// How often a link to borrow is looked for before one is dialled: who has something for the other is about to dial, often.
constexpr int looks = 2;

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
  std::unordered_multiset<std::string> asking;          // sessions and tasks with a RecvTensor under way
  std::multimap<std::int64_t, std::uint64_t> fetching;  // those calls by step
  Road road = Road::unknown;

  void forget_fetch(std::int64_t step, std::uint64_t number, const std::string& asker) {
    const auto [begin, end] = fetching.equal_range(step);
    const auto fetch = std::find_if(begin, end, [&](const auto& entry) { return entry.second == number; });
    if (fetch != end) fetching.erase(fetch);
    if (const auto one = asking.find(asker); one != asking.end()) asking.erase(one);
  }
};

/// What a peer is to its own stream besides.
using Dialler = PeerActor::extend<caf::reacts_to<PeerAnswers>, caf::reacts_to<LinkArrived>, caf::reacts_to<LinkClosed>, caf::reacts_to<PutTensors>,
                                  caf::reacts_to<AbortStep>>;

/// The peer has dialled this node: its link serves as well, for tensors.
struct Lent {
  Lender by;
  std::vector<std::uint64_t> incarnations;
  std::set<std::string> wanted;  // sessions and tasks
};

struct PeerState {
  PeerState(Dialler::pointer s, std::shared_ptr<Channel> to, LinkHost h)
      : self(s), channel(std::move(to)), host(std::move(h)), producer(host.rendezvous, host.counters), consumer(host.inbox, host.counters) {
    consumer.tell_with(noted("RecvTensor"));
  }

  Dialler::pointer self;
  std::shared_ptr<Channel> channel;
  LinkHost host;
  std::shared_ptr<Outgoing> outgoing = std::make_shared<Outgoing>();

  // The link.
  std::shared_ptr<Stream> stream;
  LinkProducer producer;
  LinkConsumer consumer;
  std::unordered_map<std::uint64_t, RunPromise> runs;

  // Or another one's.
  Lent lent;
  bool must_dial = false;      // runs need a link of one's own
  std::uint64_t expected = 0;  // incarnation of a device of the peer's, where one is known
  int looked = 0;              // for a link to borrow, in vain

  bool linked() const { return outgoing->road == Road::link; }

  template <class Request, class Response>
  caf::result<Parcel<Response>> forward(const char* name, Parcel<Request>& request) {
    must_dial |= std::is_same_v<Request, RunGraphRequest> || std::is_same_v<Request, wire::CreateWorkerSessionRequest>;
    auto promise = self->make_response_promise<Parcel<Response>>();
    call<Response>(name, *request, request.call, [promise](StatusOr<Response> response) mutable {
      if (!response.ok()) promise.deliver(to_caf(response.status()));
      else promise.deliver(pack<Response>(*std::move(response)));
    });
    return promise;
  }

  /// `done` may outlive the actor.
  template <class Response, class Request>
  void call(const char* name, const Request& request, std::uint64_t number, std::function<void(StatusOr<Response>)> done) {
    const std::string method = name;
    auto alive = caf::actor_cast<Dialler>(self);
    // Only calls that may be repeated safely, or that nobody would miss, fail at once when the peer is away.
    auto under_way = channel->call(method_path("Worker", name), bytes_of(request), deadline_of(method), /*wait_for_ready=*/false,
                                   [done = std::move(done), number, outgoing = outgoing, alive, method](StatusOr<grpc::ByteBuffer> reply) {
                                     outgoing->calls.erase(number);
                                     if (!reply.ok()) return done(reply.status());
                                     const bool asked = method == "GetStatus";
                                     if (outgoing->road == Road::unknown || (asked && outgoing->road == Road::tensorflow))
                                       caf::anon_send(alive, PeerAnswers{asked});
                                     done(decode<Response>(*reply));
                                   });
    if (number && under_way) outgoing->calls[number] = std::move(under_way);
  }

  void answers(bool asked) {
    // Who restarts may be somebody else: a GetStatus asks anew.
    if (outgoing->road != Road::unknown && !(asked && outgoing->road == Road::tensorflow)) return;
    if (must_dial || expected == 0 || looked == looks) return dial();
    if (lent.by) return;
    ++looked;
    self->request(host.inbox, caf::infinite, FindLink{expected}).then([this](LinkLent& found) {
      if (found.by && !lent.by && !linked()) borrow(std::move(found));
    });
  }

  void dial() {
    outgoing->road = Road::dialling;
    auto dialled = channel->stream(link_path);
    listen(*dialled, caf::actor_cast<Dialler>(self));
    stream = dialled;
    write(stream->out(), LinkHello{host.incarnations, machine_hint()});
    stream->commit(Stream::When::now);
    dialled->start();
  }

  void borrow(LinkLent link) {
    lent = {link.by, std::move(link.incarnations), {}};
    self->monitor(lent.by);
    self->send(lent.by, Borrow{noted("RecvTensor")});
  }
  void down(const caf::actor_addr& who) {
    if (lent.by && lent.by.address() == who) lent = {};
    looked = 0;
  }

  void closed(const Status& why) {
    if (linked()) --host.counters->links;
    outgoing->road = why.code() == Code::kUnimplemented ? Road::tensorflow : Road::unknown;
    stream = nullptr;
    producer.closed(why);
    auto open = std::move(runs);
    runs.clear();
    for (auto& [call, promise] : open) promise.deliver(to_caf(noted("RunGraph")(why)));
    consumer.closed(why);
  }

  /// How errors of a call are told.
  std::function<Status(const Status&)> noted(const char* method) const {
    return [channel = channel, method](const Status& status) { return channel->noted(status, method_path("Worker", method), channel->address()); };
  }

  void arrived(const grpc::ByteBuffer& message) {
    auto frames = decode_link(message);
    if (!frames.ok()) {
      if (stream) stream->close(frames.status());
      return;
    }
    for (LinkFrame& frame : *frames) std::visit([this](auto& f) { handle(f); }, frame);
    consumer.deliver();
  }

  void handle(LinkHello& frame) {
    if (outgoing->road != Road::dialling) return;
    outgoing->road = Road::link;
    ++host.counters->links;
    producer.open(stream, caf::actor_cast<caf::strong_actor_ptr>(self));
    consumer.open(stream, std::move(frame));
    consumer.share_memory();
  }
  void handle(LinkRan& frame) {
    auto found = runs.find(frame.call);
    if (found == runs.end()) return;  // cancelled meanwhile
    auto promise = std::move(found->second);
    runs.erase(found);
    promise.deliver(pack<RunGraphResponse>(std::move(frame.response)));
  }
  // What only who dials may ask for.
  void handle(LinkRun&) {}
  void handle(LinkCancel&) {}
  void handle(LinkCleanup&) {}
  template <class Frame>
  void handle(Frame& frame) {
    if constexpr (requires { producer.handle(frame); }) producer.handle(frame);
    else consumer.handle(frame);
  }

  caf::result<Parcel<RunGraphResponse>> run(Parcel<RunGraphRequest>& request) {
    if (!linked()) return forward<RunGraphRequest, RunGraphResponse>("RunGraph", request);
    auto promise = self->make_response_promise<Parcel<RunGraphResponse>>();
    const std::uint64_t call = request.call ? request.call : next_call_number();
    request->request_id = 0;  // a stream repeats nothing
    runs.emplace(call, promise);
    write(stream->out(), call, *request);
    stream->commit(Stream::When::now);
    ++host.counters->runs_sent;
    return promise;
  }

  caf::result<Parcel<wire::CleanupGraphResponse>> clean_up(Parcel<wire::CleanupGraphRequest>& request) {
    if (!linked()) return forward<wire::CleanupGraphRequest, wire::CleanupGraphResponse>("CleanupGraph", request);
    write(stream->out(), LinkCleanup{request->step_id()});
    stream->commit(Stream::When::along);
    return pack<wire::CleanupGraphResponse>();
  }

  void fetch(FetchTensors& message) {
    // In doubt the peer is asked, and says what is wrong. While it is, nothing is wanted: what was asked for might be pushed.
    const std::string asker = message.session ? *message.session + message.task : std::string();
    const bool wanted = message.session && (lent.by ? lent.wanted.contains(asker) : linked() && consumer.wants(message));
    const bool may_want = message.session && (wanted || !outgoing->asking.contains(asker));
    std::vector<std::string> pushed;
    for (std::string& key : message.keys) {
      const std::uint64_t incarnation = incarnation_in(key);
      if (incarnation != 0) expected = incarnation;
      const bool comes_from_there = lent.by ? lends(incarnation) : linked() && consumer.comes_from_here(incarnation);
      if (may_want && comes_from_there) pushed.push_back(std::move(key));
      else ask(message, std::move(key), asker);
    }
    if (pushed.empty()) return;
    message.keys = std::move(pushed);
    if (!lent.by) return void(consumer.take(std::move(message)));
    lent.wanted.insert(asker);
    const auto lost = [this, step = message.step, keys = message.keys, to = message.to] {
      TensorsCame none{step, {}};
      for (const std::string& key : keys) none.tensors.push_back({key, {}, noted("RecvTensor")(unavailable("The peer has closed the link"))});
      self->send(to, std::move(none));
    };
    self->request(lent.by, caf::infinite, std::move(message))
        .then(
            [lost](bool taken) {
              if (!taken) lost();
            },
            [lost](caf::error&) { lost(); });
  }

  void ask(const FetchTensors& message, std::string key, const std::string& asker) {
    ++host.counters->asked;
    if (message.session) outgoing->asking.insert(asker);
    RecvTensorRequest request;
    request.step_id = message.step;
    request.rendezvous_key = key;
    request.request_id = random_request_id();
    const std::uint64_t number = next_call_number();
    outgoing->fetching.emplace(message.step, number);
    call<RecvTensorResponse>(
        "RecvTensor", request, number,
        [step = message.step, to = message.to, key = std::move(key), number, asker, outgoing = outgoing](StatusOr<RecvTensorResponse> response) {
          outgoing->forget_fetch(step, number, asker);
          CameTensor came{key, {}, response.status()};
          if (response.ok()) came.value = pack<RecvTensorResponse>(*std::move(response));
          caf::anon_send(to, TensorsCame{step, {std::move(came)}});
        });
  }

  void cancel(const CancelFetch& message) {
    std::vector<std::shared_ptr<ClientCall>> open;
    const auto [begin, end] = outgoing->fetching.equal_range(message.step);
    for (auto it = begin; it != end; ++it)
      if (const auto call = outgoing->calls.find(it->second); call != outgoing->calls.end()) open.push_back(call->second);
    for (const auto& call : open) call->cancel();
    self->send(host.inbox, message);
  }

  bool lends(std::uint64_t incarnation) const {
    return std::find(lent.incarnations.begin(), lent.incarnations.end(), incarnation) != lent.incarnations.end();
  }

  void forget_session(const ForgetSession& message) {
    consumer.forget_session(message.session);
    if (!lent.by) return;
    std::erase_if(lent.wanted, [&](const std::string& asker) { return asker.starts_with(message.session); });
    self->send(lent.by, message);
  }

  void cancel(const CancelCall& message) {
    if (auto run = runs.find(message.call); run != runs.end()) {
      auto promise = std::move(run->second);
      runs.erase(run);
      write(stream->out(), LinkCancel{message.call});
      stream->commit(Stream::When::now);
      promise.deliver(to_caf(noted("RunGraph")(make_status(Code::kCancelled, "CANCELLED"))));
    } else if (auto found = outgoing->calls.find(message.call); found != outgoing->calls.end()) {
      const auto call = found->second;
      call->cancel();
    }
  }
};

Dialler::behavior_type peer(Dialler::stateful_pointer<std::optional<PeerState>> self, std::shared_ptr<Channel> channel, LinkHost host) {
  PeerState& state = self->state.emplace(self, std::move(channel), std::move(host));
  self->set_down_handler([&state](caf::down_msg& message) { state.down(message.source); });
#define FORWARD(name) \
  [&state](Asked<wire::name##Request>& r) { return state.forward<native<wire::name##Request>, native<wire::name##Response>>(#name, r); }
  return {
      [&state](const CancelCall& message) { state.cancel(message); },
      FORWARD(GetStatus),
      FORWARD(CreateWorkerSession),
      FORWARD(DeleteWorkerSession),
      FORWARD(RegisterGraph),
      FORWARD(DeregisterGraph),
      [&state](Asked<wire::RunGraphRequest>& r) { return state.run(r); },
      [&state](Asked<wire::CleanupGraphRequest>& r) { return state.clean_up(r); },
      FORWARD(CleanupAll),
      FORWARD(RecvTensor),
      FORWARD(MarkRecvFinished),
      FORWARD(Logging),
      FORWARD(Tracing),
      FORWARD(RecvBuf),
      FORWARD(GetStepSequence),
      FORWARD(CompleteGroup),
      FORWARD(CompleteInstance),
      [&state](FetchTensors& message) { state.fetch(message); },
      [&state](const CancelFetch& message) { state.cancel(message); },
      [&state](const ForgetSession& message) { state.forget_session(message); },
      [&state](const PeerAnswers& message) { state.answers(message.asked); },
      [&state](const LinkArrived& message) { state.arrived(*message.message); },
      [&state](const LinkClosed& message) { state.closed(message.why); },
      [&state](const PutTensors& message) { state.producer.push(message); },
      [&state](const AbortStep& message) { state.producer.abort(message); },
  };
#undef FORWARD
}

}  // namespace

PeerActor spawn_peer(caf::actor_system& system, Transport& transport, std::string task, std::string address, LinkHost host) {
  return system.spawn(peer, std::make_shared<Channel>(std::move(address), transport, std::move(task)), std::move(host));
}

}  // namespace troupe
