// A client's session as Asio operations: the same to a node of this process, to a remote Troupe node and to a TensorFlow server.
#pragma once

#include <troupe/wire/config.pb.h>
#include <troupe/wire/graph.pb.h>
#include <troupe/actors/embed/door.hpp>
#include <troupe/actors/embed/node.hpp>
#include <troupe/actors/embed/operation.hpp>
#include <troupe/actors/embed/variable_ops.hpp>
#include <troupe/messaging/messages.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::embed {

/// Values by tensor name: "x" or "x:0".
using Feeds = std::map<std::string, Tensor>;

/// A session that is open, or was; made by async_open_session. A value: copies are the same session, and the last one to go closes it.
///
/// Any thread of the stage's executor may call it. Operations complete with `void(absl::StatusOr<...>)` or `void(absl::Status)` on the
/// handler's executor, by default the stage's. Cancellation (terminal or partial) completes them with CANCELLED and cancels the step.
/// Errors have TensorFlow's codes and texts; a node that has stopped, or is stopping, is FAILED_PRECONDITION or UNAVAILABLE.
class Session {
 public:
  Session() = default;

  /// Runs one step: the values of the fetches, in their order. Names are TensorFlow's; targets are run for their effects.
  template <class Token>
  auto async_run(Feeds feeds, std::vector<std::string> fetches, std::vector<std::string> targets, Token&& token) const;
  /// Cancels what runs and forgets the graph. Variables stay on their devices.
  template <class Token>
  auto async_close(Token&& token) const;

  /// The names of the variables that the graph had when the session was opened.
  std::vector<std::string> variables() const;

  /// What sessions share; `variable.hpp` uses it.
  struct Core;
  const std::shared_ptr<Core>& core() const { return core_; }
  static Session of(std::shared_ptr<Core> core) {
    Session session;
    session.core_ = std::move(core);
    return session;
  }

 private:
  std::shared_ptr<Core> core_;
};

struct Session::Core {
  std::shared_ptr<Door> door;
  Master master;
  std::string handle;
  std::map<std::string, VariableOps> variables;
  ~Core();

  Parcel<RunStepRequest> run_request(Feeds feeds, const std::vector<std::string>& fetches, std::vector<std::string> targets) const;
};

/// The reply to a step, in the order of its fetches.
struct FetchedInOrder {
  std::shared_ptr<Session::Core> session;  // stays open while a step runs
  std::uint64_t call;
  std::vector<std::string> fetches;
  StatusOr<std::vector<Tensor>> operator()(Parcel<RunStepResponse>& reply) const;
  void give_up(const Status& reason) const;
};

template <class Token>
auto Session::async_run(Feeds feeds, std::vector<std::string> fetches, std::vector<std::string> targets, Token&& token) const {
  using Result = StatusOr<std::vector<Tensor>>;
  return boost::asio::async_initiate<Token, void(Result)>(
      [core = core_](auto handler, Feeds fed, std::vector<std::string> fetched, std::vector<std::string> run) {
        using Handler = decltype(handler);
        if (!core) return complete_now<Result>(nullptr, std::move(handler), failed_precondition("The session was never opened"));
        auto request = core->run_request(std::move(fed), fetched, std::move(run));
        FetchedInOrder convert{core, request.call, std::move(fetched)};
        ask<Parcel<RunStepResponse>, Result, Handler>(core->door->desk(), false, std::move(handler), core->master, std::move(request),
                                                      std::move(convert));
      },
      token, std::move(feeds), std::move(fetches), std::move(targets));
}

/// Says that a session has closed.
struct Closed {
  std::shared_ptr<Session::Core> session;
  Status operator()(Parcel<wire::CloseSessionResponse>&) const {
    session->handle.clear();
    return absl::OkStatus();
  }
};

template <class Token>
auto Session::async_close(Token&& token) const {
  return boost::asio::async_initiate<Token, void(Status)>(
      [core = core_](auto handler) {
        using Handler = decltype(handler);
        if (!core) return complete_now<Status>(nullptr, std::move(handler), failed_precondition("The session was never opened"));
        auto request = pack<wire::CloseSessionRequest>();
        request->set_session_handle(core->handle);
        ask<Parcel<wire::CloseSessionResponse>, Status, Handler>(core->door->desk(), false, std::move(handler), core->master, std::move(request),
                                                                 Closed{core});
      },
      token);
}

/// Makes the session of a door's answer.
struct Opened {
  std::shared_ptr<Session::Core> core;
  std::uint64_t call;
  StatusOr<Session> operator()(Parcel<wire::CreateSessionResponse>& reply) const {
    core->handle = reply->session_handle();
    return Session::of(core);
  }
  void give_up(const Status& reason) const { caf::anon_send(core->master, CancelCall{call, reason}); }
};

template <class Token>
auto async_open_session(const std::shared_ptr<Door>& door, wire::GraphDef graph, wire::ConfigProto config, Token&& token) {
  return boost::asio::async_initiate<Token, void(StatusOr<Session>)>(
      [](auto handler, const std::shared_ptr<Door>& to, wire::GraphDef def, wire::ConfigProto options) {
        using Handler = decltype(handler);
        auto core = std::make_shared<Session::Core>();
        core->door = to;
        core->master = to->master();
        if (!core->master) {
          Status why = to->desk()->refusal();
          return complete_now<StatusOr<Session>>(&to->desk()->stage(), std::move(handler), why.ok() ? unavailable("The node has stopped") : why);
        }
        core->variables = add_variable_ops(def);
        auto request = pack<wire::CreateSessionRequest>();
        request->mutable_graph_def()->Swap(&def);
        request->mutable_config()->Swap(&options);
        request->set_target(to->target());
        const std::uint64_t call = request.call = next_call_number();
        Opened convert{core, call};
        ask<Parcel<wire::CreateSessionResponse>, StatusOr<Session>, Handler>(to->desk(), false, std::move(handler), core->master, std::move(request),
                                                                             std::move(convert));
      },
      token, door, std::move(graph), std::move(config));
}

std::shared_ptr<Door> door_of(const Node& node);
/// "grpc://host:port"
std::shared_ptr<Door> door_of(const Stage& stage, const std::string& target);

/// Opens a session with a node of this process: `void(absl::StatusOr<Session>)`. It waits until all tasks of the node's cluster are there.
template <class Token>
auto async_open_session(const Node& node, wire::GraphDef graph, Token&& token, wire::ConfigProto config = {}) {
  return async_open_session(door_of(node), std::move(graph), std::move(config), std::forward<Token>(token));
}
/// Opens a session with a server elsewhere, of Troupe or of TensorFlow: "grpc://host:port". It waits for the server to be there.
template <class Token>
auto async_open_session(const Stage& stage, const std::string& target, wire::GraphDef graph, Token&& token, wire::ConfigProto config = {}) {
  return async_open_session(door_of(stage, target), std::move(graph), std::move(config), std::forward<Token>(token));
}

}  // namespace troupe::embed
