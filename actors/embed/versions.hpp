// The versions of a variable as a stream to be awaited.
#pragma once

#include <troupe/actors/embed/variable.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace troupe::embed {

/// A subscription; a value, used like the session it came from. Each version is told once; who is slower than the writers gets the latest.
class Versions {
 public:
  /// The next version that was not told yet, with its number (writes so far) and its value, which no later write changes:
  /// `void(absl::StatusOr<VariableVersion>)`. The first is the present one, if the variable has a value. Versions are told between
  /// steps. One at a time; may be cancelled.
  template <class Token>
  auto async_next(Token&& token) const {
    using Result = StatusOr<VariableVersion>;
    return boost::asio::async_initiate<Token, void(Result)>(
        [state = state_](auto handler) {
          using Handler = decltype(handler);
          AwaitVersion message{state->container, state->name, state->known.load(), next_call_number()};
          Told convert{state, message.call};
          ask<VariableVersion, Result, Handler>(state->session.core()->door->desk(), false, std::move(handler), state->device, std::move(message),
                                                std::move(convert));
        },
        token);
  }

 private:
  template <class Token>
  friend auto async_subscribe(const Variable& variable, Token&& token);
  struct State {
    Session session;
    Device device;
    std::string container, name;
    std::atomic<std::uint64_t> known{0};
  };
  struct Told {
    std::shared_ptr<State> state;
    std::uint64_t call;
    StatusOr<VariableVersion> operator()(VariableVersion& version) const {
      state->known.store(version.number);
      return std::move(version);
    }
    void give_up(const Status& reason) const { caf::anon_send(state->device, CancelCall{call, reason}); }
  };
  /// Finds the device by the handle that a step has fetched.
  struct Subscribed {
    FetchedInOrder fetched;
    StatusOr<Versions> operator()(Parcel<RunStepResponse>& reply) const;
    void give_up(const Status& reason) const { fetched.give_up(reason); }
  };
  std::shared_ptr<State> state_;
};

/// Subscribes to a resource variable that lives in this process: `void(absl::StatusOr<Versions>)`. UNIMPLEMENTED for variables of the old
/// kind and for those of other processes.
template <class Token>
auto async_subscribe(const Variable& variable, Token&& token) {
  using Result = StatusOr<Versions>;
  return boost::asio::async_initiate<Token, void(Result)>(
      [core = variable.session().core(), name = variable.name()](auto handler) {
        using Handler = decltype(handler);
        if (!core) return complete_now<Result>(nullptr, std::move(handler), failed_precondition("The session was never opened"));
        StageCore* stage = &core->door->desk()->stage();
        auto found = core->variables.find(name);
        if (found == core->variables.end()) return complete_now<Result>(stage, std::move(handler), not_found("The graph has no variable {}", name));
        if (!found->second.resource)
          return complete_now<Result>(stage, std::move(handler), unimplemented("{} is a variable of the old kind, which tells no versions", name));
        std::vector<std::string> fetches{name + ":0"};
        auto request = core->run_request({}, fetches, {});
        Versions::Subscribed convert{{core, request.call, std::move(fetches)}};
        ask<Parcel<RunStepResponse>, Result, Handler>(core->door->desk(), false, std::move(handler), core->master, std::move(request),
                                                      std::move(convert));
      },
      token);
}

}  // namespace troupe::embed
