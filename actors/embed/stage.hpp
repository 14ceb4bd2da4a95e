// A stage: where the actors of a service play. They run on the executor that the service gives, and on no thread of their own.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <caf/actor_system.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace troupe::embed {

class StageCore;

/// An actor system on an executor: an io_context, a thread_pool, a strand, run by one thread or by many.
///
/// Actors of one stage never run at the same time, whatever the number of threads: the stage is a strand of the executor. Who wants
/// them to run in parallel makes several stages, or gives a node compute threads. Nodes of one stage talk directly.
///
/// Ownership: nodes and sessions share the stage's inside, so a Stage may go before them. With the last of them open requests to the
/// service's own actors are UNAVAILABLE. Handles of actors that were spawned on it must be gone by then; actors that still live end
/// without a word.
/// Threads: any thread may call it; its construction and destruction never wait.
///
/// The executor should outlive all of it. If its context is destroyed first, nodes are stopped on that thread, handlers of open operations
/// are destroyed and not called (as Asio does with its own), and later operations fail at once with FAILED_PRECONDITION.
class Stage {
 public:
  using executor_type = boost::asio::any_io_executor;

  explicit Stage(executor_type executor);
  /// On a context: io_context, thread_pool.
  template <class Context>
  requires requires(Context& context) {
    executor_type(context.get_executor());
  } &&(!std::convertible_to<Context, executor_type>)explicit Stage(Context& context) : Stage(executor_type(context.get_executor())) {
  }
  ~Stage();
  Stage(Stage&&) noexcept;
  Stage& operator=(Stage&&) noexcept;

  /// The executor that was given, where completions without an executor of their own are delivered.
  executor_type get_executor() const;
  /// To spawn actors of one's own, which then run here: `stage.system().spawn(...)`.
  caf::actor_system& system() const;

  const std::shared_ptr<StageCore>& core() const { return core_; }

 private:
  std::shared_ptr<StageCore> core_;
};

}  // namespace troupe::embed
