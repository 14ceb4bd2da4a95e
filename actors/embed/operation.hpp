// An Asio operation that an actor answers: completes once, on the handler's executor, and can be cancelled.
#pragma once

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <troupe/actors/embed/desk.hpp>

#include <memory>
#include <utility>

namespace troupe::embed {

/// Calls a handler with its result, and forgets how to cancel it.
template <class Handler, class Result>
struct Delivery {
  using allocator_type = boost::asio::associated_allocator_t<Handler>;
  allocator_type get_allocator() const noexcept { return boost::asio::get_associated_allocator(handler); }
  void operator()() {
    if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
    std::move(handler)(std::move(result));
  }
  Handler handler;
  Result result;
};

/// Waits at a desk. `Convert` makes the Result (a Status or a StatusOr) of the actor's reply; where it has give_up(reason), that is
/// told when the answer is no longer wanted.
template <class Reply, class Result, class Convert, class Handler>
class Operation final : public ReplyTaker {
 public:
  Operation(Handler handler, Convert convert, const boost::asio::any_io_executor& executor)
      : handler_(std::move(handler)), convert_(std::move(convert)), work_(boost::asio::get_associated_executor(handler_, executor)) {}

  void take(caf::type_erased_tuple& reply) override {
    if (reply.match_elements<Reply>()) finish(convert_(reply.get_mutable_as<Reply>(0)));
    else finish(Result(internal("The actor gave an unexpected reply: {}", reply.stringify())));
  }
  void fail(const caf::error& error) override { finish(Result(from_caf(error))); }
  void give_up(const Status& reason) override {
    if constexpr (requires(Convert c) { c.give_up(reason); }) convert_.give_up(reason);
  }
  void finish(Result result) {
    const auto work = std::move(work_);
    // Posted, never dispatched: we may be inside an actor's turn, which a handler must not prolong and its exceptions must not meet.
    boost::asio::post(work.get_executor(), Delivery<Handler, Result>{std::move(handler_), std::move(result)});
  }
  Handler& handler() { return handler_; }

 private:
  Handler handler_;
  Convert convert_;
  boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>> work_;
};

/// Delivers a result without waiting for anything; at once, on this thread, where the stage's executor is gone and the handler has none.
template <class Result, class Handler>
void complete_now(const StageCore* stage, Handler handler, Result result) {
  if (stage && stage->alive()) {
    auto executor = boost::asio::get_associated_executor(handler, stage->executor());
    return boost::asio::post(executor, Delivery<Handler, Result>{std::move(handler), std::move(result)});
  }
  auto executor = boost::asio::get_associated_executor(handler);
  boost::asio::dispatch(executor, Delivery<Handler, Result>{std::move(handler), std::move(result)});
}

/// What a cancellation slot holds: the operation by its number, so that it may come too late.
struct CancelOperation {
  std::weak_ptr<Desk> desk;
  caf::message_id id;
  CancelOperation(std::weak_ptr<Desk> where, caf::message_id number) : desk(std::move(where)), id(number) {}
  void operator()(boost::asio::cancellation_type type) const {
    using boost::asio::cancellation_type;
    if ((type & (cancellation_type::terminal | cancellation_type::partial)) == cancellation_type::none) return;
    if (auto open = desk.lock()) open->cancel(id);
  }
};

/// Asks an actor: the initiation that all operations share.
template <class Reply, class Result, class Handler, class Handle, class Message, class Convert>
void ask(const std::shared_ptr<Desk>& desk, bool watch, Handler handler, const Handle& actor, Message message, Convert convert) {
  StageCore& stage = desk->stage();
  if (!stage.alive()) return complete_now(&stage, std::move(handler), Result(failed_precondition("The executor is gone")));
  if (Status refusal = desk->refusal(); !refusal.ok()) return complete_now(&stage, std::move(handler), Result(std::move(refusal)));
  auto operation = std::make_unique<Operation<Reply, Result, Convert, Handler>>(std::move(handler), std::move(convert), stage.executor());
  auto slot = boost::asio::get_associated_cancellation_slot(operation->handler());
  caf::abstract_actor& asked = *caf::actor_cast<caf::abstract_actor*>(actor);
  if (watch) desk->watch(asked);
  const caf::message_id id = desk->expect(std::move(operation), asked.id());
  if (slot.is_connected()) slot.template emplace<CancelOperation>(desk, id);
  desk->send(actor, id, std::move(message));
}

}  // namespace troupe::embed
