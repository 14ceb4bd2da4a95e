// What operations at a desk share.
#include <troupe/actors/embed/desk.hpp>

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
    if (!watched_.insert(actor.id()).second) return;
  }
  actor.attach_functor([desk = weak_from_this(), id = actor.id()](const caf::error& reason) {
    if (auto open = desk.lock()) open->failed(id, reason);
  });
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
