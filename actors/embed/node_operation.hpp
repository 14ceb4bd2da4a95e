// How start and stop of a node become Asio operations.
#pragma once

#include <troupe/actors/embed/node.hpp>
#include <troupe/actors/embed/operation.hpp>

namespace troupe::embed {

/// A handler that somebody will call once through a copyable function; keeps the handler's executor busy until then.
template <class Result, class Handler>
std::function<void(Result)> deliver_later(Handler handler, const boost::asio::any_io_executor& executor) {
  using Executor = boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>;
  struct Waiting {
    Handler handler;
    boost::asio::executor_work_guard<Executor> work;
  };
  auto associated = boost::asio::get_associated_executor(handler, executor);
  auto waiting = std::make_shared<Waiting>(Waiting{std::move(handler), boost::asio::executor_work_guard<Executor>(associated)});
  return [waiting](Result result) {
    const auto work = std::move(waiting->work);
    boost::asio::post(work.get_executor(), Delivery<Handler, Result>{std::move(waiting->handler), std::move(result)});
  };
}

template <class Begin, class Token>
auto Node::initiate(Begin begin, Token&& token) {
  return boost::asio::async_initiate<Token, void(Status)>(
      [core = core_](auto handler, Begin begin_it) {
        const auto stage = stage_of(core);
        if (!stage->alive()) return complete_now<Status>(stage.get(), std::move(handler), failed_precondition("The executor is gone"));
        begin_it(deliver_later<Status>(std::move(handler), stage->executor()));
      },
      token, std::move(begin));
}

}  // namespace troupe::embed
