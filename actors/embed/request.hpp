// Asks any actor as an Asio operation.
#pragma once

#include <troupe/actors/embed/operation.hpp>
#include <troupe/actors/embed/stage.hpp>

#include <utility>

namespace troupe::embed {

/// Takes a reply as it is.
template <class Reply>
struct AsItIs {
  StatusOr<Reply> operator()(Reply& reply) const { return std::move(reply); }
};

/// Sends the message to an actor of a stage and completes with its reply: `void(absl::StatusOr<Reply>)`.
///
///   StatusOr<int> sum = co_await async_request<int>(adder, Add{1, 2}, asio::use_awaitable);
///
/// Any thread of the stage's executor may call it; on one that may run the actors, they run before it returns, but the handler never
/// does. Cancellation (terminal or partial) completes it with CANCELLED; the actor may handle the message all the same. An
/// exception in the actor's handler is INTERNAL and ends the actor. An actor that has ended is UNAVAILABLE, and so is one that ends by
/// an exception or an error before it has answered. An actor on no stage is FAILED_PRECONDITION. An error of the actor's own comes as
/// the Status it was made from (to_caf), else as INTERNAL with its text.
template <class Reply, class Handle, class Message, class Token>
auto async_request(const Handle& actor, Message message, Token&& token) {
  return boost::asio::async_initiate<Token, void(StatusOr<Reply>)>(
      [](auto handler, Handle asked, Message content) {
        using Handler = decltype(handler);
        if (!asked) return complete_now<StatusOr<Reply>>(nullptr, std::move(handler), unavailable("There is no actor to ask"));
        StageCore* stage = StageCore::of(caf::actor_cast<caf::abstract_actor*>(asked)->home_system());
        if (!stage) return complete_now<StatusOr<Reply>>(nullptr, std::move(handler), failed_precondition("The actor is on no stage"));
        ask<Reply, StatusOr<Reply>, Handler>(stage->desk(), true, std::move(handler), asked, std::move(content), AsItIs<Reply>{});
      },
      token, actor, std::move(message));
}

}  // namespace troupe::embed
