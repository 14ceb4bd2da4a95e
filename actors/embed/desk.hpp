// A desk: where operations wait for the answers of actors.
#pragma once

#include <troupe/actors/embed/stage_core.hpp>
#include <troupe/messaging/reply_port.hpp>

#include <memory>
#include <mutex>
#include <unordered_map>

namespace troupe::embed {

/// Owned by a stage, a node or a connection. Any thread may use it.
class Desk : public std::enable_shared_from_this<Desk> {
 public:
  explicit Desk(StageCore& stage) : stage_(stage), port_(stage.system()) {}

  /// Set while a stage, whose own desk this is not, must live as long as this.
  std::shared_ptr<StageCore> keeps;
  StageCore& stage() { return stage_; }

  /// OK, or why nothing can be asked here now.
  Status refusal() const;
  void refuse(Status why);

  caf::message_id expect(std::unique_ptr<ReplyTaker> taker, caf::actor_id asked) { return port_.actor().expect(std::move(taker), asked); }
  template <class Handle, class Message>
  void send(const Handle& actor, caf::message_id id, Message message) {
    stage_.run([desk = shared_from_this(), actor, id, message = std::move(message)]() mutable { desk->port_.send(actor, id, std::move(message)); });
  }
  /// Whoever waits for this actor hears of it when it fails.
  void watch(caf::abstract_actor& actor);
  /// Ends whoever was asked here and lives on: one that keeps promises of its own would hold itself for ever.
  void end_actors();
  void cancel(caf::message_id id) { port_.actor().cancel(id, cancelled("The operation was cancelled")); }
  ReplyActor& waiting() { return port_.actor(); }

 private:
  void failed(caf::actor_id actor, const caf::error& reason);

  StageCore& stage_;
  ReplyPort port_;
  mutable std::mutex mutex_;
  Status refusal_;
  std::unordered_map<caf::actor_id, caf::weak_actor_ptr> watched_;
};

}  // namespace troupe::embed
