// A variable of a session's graph, to be read and written without writing ops for it.
#pragma once

#include <troupe/actors/embed/session.hpp>

#include <string>
#include <utility>

namespace troupe::embed {

/// A name and a session; a value, used like the session. Works with resource variables and those of the old kind, on any server.
/// A name that is no variable of the graph is NOT_FOUND, a value of the wrong type or shape what TensorFlow says.
class Variable {
 public:
  Variable(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const Session& session() const { return session_; }

  /// Its value now: `void(absl::StatusOr<Tensor>)`. FAILED_PRECONDITION before it has one.
  template <class Token>
  auto async_read(Token&& token) const {
    return step<StatusOr<Tensor>>({}, &VariableOps::read, nullptr, std::forward<Token>(token));
  }
  /// Gives it this value: `void(absl::Status)`.
  template <class Token>
  auto async_assign(Tensor value, Token&& token) const {
    return step<Status>(std::move(value), nullptr, &VariableOps::assign, std::forward<Token>(token));
  }
  /// Adds to its value, as one update among those of all others: `void(absl::Status)`.
  template <class Token>
  auto async_update(Tensor delta, Token&& token) const {
    return step<Status>(std::move(delta), nullptr, &VariableOps::add, std::forward<Token>(token));
  }

 private:
  using Name = std::string VariableOps::*;
  /// The one value of a step, or that it ran.
  template <class Result>
  struct Outcome {
    FetchedInOrder fetched;
    Result operator()(Parcel<RunStepResponse>& reply) const {
      auto values = fetched(reply);
      if constexpr (!std::is_same_v<Result, Status>)
        if (values.ok()) return std::move(values->front());
      return values.status();
    }
    void give_up(const Status& reason) const { fetched.give_up(reason); }
  };

  template <class Result, class Token>
  auto step(Tensor fed, Name fetch, Name target, Token&& token) const {
    return boost::asio::async_initiate<Token, void(Result)>(
        [core = session_.core(), name = name_, fetch, target](auto handler, Tensor value) {
          using Handler = decltype(handler);
          if (!core) return complete_now<Result>(nullptr, std::move(handler), failed_precondition("The session was never opened"));
          auto found = core->variables.find(name);
          if (found == core->variables.end())
            return complete_now<Result>(&core->door->desk()->stage(), std::move(handler), not_found("The graph has no variable {}", name));
          const VariableOps& ops = found->second;
          Feeds feeds;
          if (value.valid()) feeds.emplace(ops.value + ":0", std::move(value));
          std::vector<std::string> fetches, targets;
          if (fetch) fetches.push_back(ops.*fetch + ":0");
          if (target) targets.push_back(ops.*target);
          auto request = core->run_request(std::move(feeds), fetches, std::move(targets));
          Outcome<Result> convert{{core, request.call, std::move(fetches)}};
          ask<Parcel<RunStepResponse>, Result, Handler>(core->door->desk(), false, std::move(handler), core->master, std::move(request),
                                                        std::move(convert));
        },
        token, std::move(fed));
  }

  Session session_;
  std::string name_;
};

}  // namespace troupe::embed
