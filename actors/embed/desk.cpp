// What operations at a desk share.
#include <troupe/actors/embed/desk.hpp>

#include <caf/send.hpp>

namespace troupe::embed {

Status Desk::refusal() const {
  std::lock_guard lock(mutex_);
  return refusal_;
}

void Desk::refuse(Status why) {
  std::lock_guard lock(mutex_);
  refusal_ = std::move(why);
}

void Desk::watch(caf::abstract_actor& actor) {
  {
    std::lock_guard lock(mutex_);
    if (!watched_.emplace(actor.id(), caf::weak_actor_ptr(actor.ctrl())).second) return;
  }
  actor.attach_functor([desk = weak_from_this(), id = actor.id()](const caf::error& reason) {
    if (auto open = desk.lock()) open->failed(id, reason);
  });
}

void Desk::end_actors() {
  std::unordered_map<caf::actor_id, caf::weak_actor_ptr> left;
  {
    std::lock_guard lock(mutex_);
    left.swap(watched_);
  }
  for (const auto& [id, actor] : left) caf::anon_send_exit(actor, caf::exit_reason::kill);
}

// Who ends well may have passed the request on before; who fails in the middle of it has not, and CAF says nothing to the asker.
void Desk::failed(caf::actor_id actor, const caf::error& reason) {
  {
    std::lock_guard lock(mutex_);
    watched_.erase(actor);
  }
  if (reason) port_.actor().fail_all(unavailable("The actor has ended: {}", caf::to_string(reason)), actor);
}

}  // namespace troupe::embed
