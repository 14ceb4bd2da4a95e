// The gateway actor: decodes, asks, encodes; one row per method.
#include <troupe/actors/gateway.hpp>

#include <troupe/actors/wire_codec.hpp>
#include <troupe/messaging/reply_port.hpp>

#include <boost/container/flat_map.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <map>

namespace troupe {
namespace {

/// What an answer may need on its way to the client.
constexpr std::chrono::milliseconds longest_text_time{200};

struct GatewayState;
using Handler = void (*)(GatewayState&, const std::shared_ptr<ServerCall>&);

struct Row {
  const char* service;
  const char* name;
  Handler handler;
};

struct GatewayState {
  Gateway::pointer self = nullptr;
  Master master;
  Worker worker;
  GuestHost host;
  std::map<caf::actor_addr, Guest> guests;
  std::unique_ptr<ReplyPort> port;
  Status closed;
  boost::container::flat_map<std::uint64_t, bool> open;   // numbers of calls under way; true: the master's
  std::vector<std::uint64_t> received;  // calls by method

  const Master& of(service::Master*) const { return master; }
  const Worker& of(service::Worker*) const { return worker; }

  void incoming(const Incoming& message);
  void incoming(const IncomingLink& message) {
    if (!closed.ok()) return message.stream->close(closed);
    auto guest = spawn_guest(self->system(), host, message.stream);
    self->monitor(guest);
    guests.emplace(guest.address(), guest);
  }
  void close(const Close& message);
  std::string account() const;

  void cancel(std::uint64_t number, const Status& reason) {
    auto found = open.find(number);
    if (found == open.end()) return;
    if (found->second) self->send(master, CancelCall{number, reason});
    else self->send(worker, CancelCall{number, reason});
  }

  /// Who waits for missing tasks is told which, before the client's own deadline leaves no room for a text.
  void explain_in_time(const ServerCall& call, std::uint64_t number) {
    if (const auto left = call.time_left())
      self->delayed_send(self, *left - std::min(*left / 10, longest_text_time), CancelCall{number, deadline_exceeded("Deadline Exceeded")});
  }

  template <class Service, class Request, class Response>
  void serve(const std::shared_ptr<ServerCall>& call) {
    auto decoded = decode<Request>(call->request);
    call->request.Clear();
    if (!decoded.ok()) return call->fail(decoded.status());
    auto request = pack<Request>(*std::move(decoded));
    const std::uint64_t number = request.call = next_call_number();
    open.emplace(number, std::is_same_v<Service, service::Master>);
    bool in_body = false;
    if constexpr (requires { request->store_errors_in_response_body; }) in_body = request->store_errors_in_response_body;
    call->on_cancelled = [this, alive = caf::actor_cast<Gateway>(self), number] {
      cancel(number, cancelled("The client has gone away or its deadline has passed."));
    };
    if constexpr (std::is_same_v<Request, wire::CreateSessionRequest>) explain_in_time(*call, number);
    port->ask<Parcel<Response>>(
        of(static_cast<Service*>(nullptr)),
        [this, call, number, in_body](StatusOr<Parcel<Response>> reply) {
          open.erase(number);
          call->on_cancelled = nullptr;
          if (reply.ok()) return call->reply(bytes_of(**reply));
          if constexpr (requires(Response r) { r.status; }) {
            if (in_body) {
              Response failed;
              failed.status = reply.status();
              return call->reply_failure(bytes_of(failed));
            }
          }
          call->fail(reply.status());
        },
        std::move(request));
  }
};

void refuse_eager(GatewayState&, const std::shared_ptr<ServerCall>& call) {
  call->fail(unimplemented("TensorFlow 2 eager clusters are not served by Troupe nodes yet; use a graph-mode session (tf.compat.v1.Session)"));
}

constexpr std::array rows{
#define RPC(owner, name)                                                                              \
  Row{#owner, #name, [](GatewayState& state, const std::shared_ptr<ServerCall>& call) {               \
        state.serve<service::owner, native<wire::name##Request>, native<wire::name##Response>>(call); \
      }},
#include <troupe/actors/rpcs.def>
#undef RPC
};

constexpr const char* report_path = "/troupe.Node/Report";

constexpr std::array eager_methods{"CreateContext",        "UpdateContext", "Enqueue",      "WaitQueueDone",
                                   "RunComponentFunction", "KeepAlive",     "CloseContext", "StreamingEnqueue"};

void GatewayState::incoming(const Incoming& message) {
  if (!closed.ok()) return message.call->fail(closed);
  const auto at = static_cast<std::size_t>(message.call->method);
  received.resize(rows.size() + eager_methods.size());
  if (at < received.size()) ++received[at];
  if (at < rows.size()) return rows[at].handler(*this, message.call);
  if (at == rows.size() + eager_methods.size()) {
    const grpc::Slice report(to_json(*host.link.counters));
    return message.call->reply(grpc::ByteBuffer(&report, 1));
  }
  refuse_eager(*this, message.call);
}

/// "CreateSession 1, RunStep 500"
std::string GatewayState::account() const {
  std::string text;
  for (std::size_t i = 0; i < received.size(); ++i) {
    if (received[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", i < rows.size() ? rows[i].name : eager_methods[i - rows.size()], received[i]);
  }
  return text.empty() ? "none" : text;
}

void GatewayState::close(const Close& message) {
  if (closed.ok()) spdlog::info("calls received: {}", account());
  closed = message.reason;
  for (const auto& [address, guest] : guests) self->send(guest, message);
  if (!message.cancel_open) return;
  const auto numbers = open;
  for (const auto& [number, master_s] : numbers) cancel(number, message.reason);
}

Gateway::behavior_type gateway(Gateway::stateful_pointer<GatewayState> self, Master master, GuestHost host) {
  self->state.self = self;
  self->state.master = std::move(master);
  self->state.worker = host.worker;
  self->state.host = std::move(host);
  self->state.port = std::make_unique<ReplyPort>(self->system());
  self->set_down_handler([self](caf::down_msg& message) { self->state.guests.erase(message.source); });
  return {
      [=](const Incoming& message) { self->state.incoming(message); },
      [=](const IncomingLink& message) { self->state.incoming(message); },
      [=](const Close& message) { self->state.close(message); },
      [=](const CancelCall& message) { self->state.cancel(message.call, message.reason); },
  };
}

}  // namespace

Gateway spawn_gateway(caf::actor_system& system, Master master, GuestHost host) { return system.spawn(gateway, std::move(master), std::move(host)); }

std::vector<std::string> gateway_methods() {
  std::vector<std::string> paths;
  for (const Row& row : rows) paths.push_back(method_path(row.service, row.name));
  for (const char* name : eager_methods) paths.push_back(fmt::format("/tensorflow.eager.EagerService/{}", name));
  paths.push_back(report_path);
  return paths;
}

}  // namespace troupe
