// Asks actors from code that is no actor: the reply is taken on whatever thread it comes on.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/sec.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/status.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace troupe {

/// Takes one reply. Completed once, inline, on the responder's thread.
class ReplyTaker {
 public:
  virtual ~ReplyTaker() = default;
  virtual void take(caf::type_erased_tuple& reply) = 0;
  virtual void fail(const caf::error& error) = 0;
  /// The answer is no longer wanted: whoever works on it may be told. Any thread; take or fail comes all the same.
  virtual void give_up(const Status&) {}
};

/// The actor behind a port: no mailbox, no scheduling, only replies.
class ReplyActor final : public caf::monitorable_actor {
 public:
  explicit ReplyActor(caf::actor_config& config) : caf::monitorable_actor(config) {}
  /// Keeps the taker until its reply comes from the actor of this id, or from whom it delegates to.
  caf::message_id expect(std::unique_ptr<ReplyTaker> taker, caf::actor_id asked = 0);
  /// Gives up and fails one taker, if it still waits.
  void cancel(caf::message_id id, const Status& reason);
  /// Tells all that wait to give up; their answers still come.
  void give_up_all(const Status& reason);
  /// Fails all that wait, or those that wait for one actor.
  void fail_all(const Status& reason, caf::actor_id asked = 0);
  /// Lets go of all that wait without a word.
  void drop_all();
  /// Calls f once, on any thread, when none waits any more: at once where none does.
  void when_none(std::function<void()> f);
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override;
  const char* name() const override { return "reply_port"; }

 private:
  struct Slot {
    std::unique_ptr<ReplyTaker> taker;
    std::uint64_t generation = 0;
    caf::actor_id asked = 0;
  };
  std::unique_ptr<ReplyTaker> taker_of(std::uint64_t request_id);
  std::vector<std::unique_ptr<ReplyTaker>> takers(caf::actor_id asked);
  void notice_none();

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::function<void()> when_none_;
  std::atomic<bool> closing_{false};  // somebody waits for none to wait
};

/// A value; copies are the same port. Any thread may use it. It must be gone before its actor system.
class ReplyPort {
 public:
  explicit ReplyPort(caf::actor_system& system);

  /// Sends the message parts to dst and hands the taker the answer. Run it inside LoopScheduler::run_inline where the answer
  /// should be worked out on this thread.
  template <class Handle, class... Ts>
  void request(const Handle& dst, std::unique_ptr<ReplyTaker> taker, Ts&&... parts) {
    if (!dst) return taker->fail(caf::make_error(caf::sec::bad_function_call));
    send(dst, actor().expect(std::move(taker)), std::forward<Ts>(parts)...);
  }
  /// The second half of a request: for a taker that is expected already.
  template <class Handle, class... Ts>
  void send(const Handle& dst, caf::message_id id, Ts&&... parts) {
    caf::actor_cast<caf::abstract_actor*>(dst)->enqueue(caf::make_mailbox_element(pointer_, id, {}, std::forward<Ts>(parts)...), nullptr);
  }

  /// The same with a function that gets the reply or the error as a status.
  template <class Reply, class Handle, class... Ts>
  void ask(const Handle& dst, std::function<void(StatusOr<Reply>)> done, Ts&&... parts) {
    request(dst, std::make_unique<FunctionTaker<Reply>>(std::move(done)), std::forward<Ts>(parts)...);
  }

  ReplyActor& actor() const { return *static_cast<ReplyActor*>(pointer_->get()); }

 private:
  template <class Reply>
  struct FunctionTaker final : ReplyTaker {
    explicit FunctionTaker(std::function<void(StatusOr<Reply>)> d) : done(std::move(d)) {}
    void take(caf::type_erased_tuple& reply) override {
      if (reply.match_elements<Reply>()) return done(std::move(reply.get_mutable_as<Reply>(0)));
      done(internal("An actor gave an unexpected reply: {}", reply.stringify()));
    }
    void fail(const caf::error& error) override { done(from_caf(error)); }
    std::function<void(StatusOr<Reply>)> done;
  };

  caf::strong_actor_ptr pointer_;
};

}  // namespace troupe
