// The line before a resource.
#include <troupe/ops/resources/waiting.hpp>

namespace troupe {

void WaitingLine::join(Step* step, std::string text, Attempt attempt, Done done, std::function<void()> left) {
  Cancellation* cancellation = step ? step->cancellation : nullptr;
  if (cancellation && cancellation->cancelled()) return done(make_status(Code::kCancelled, text));
  Place place = waiting_.insert(waiting_.end(), Waiting{std::move(attempt), std::move(done), cancellation, 0});
  if (!cancellation) return;
  place->token = cancellation->on_cancel([this, place, text = std::move(text), left = std::move(left)] {
    Done told = leave(place);
    told(make_status(Code::kCancelled, text));
    if (left) left();
  });
}

Done WaitingLine::leave(Place place) {
  Done done = std::move(place->done);
  if (place->cancellation) place->cancellation->forget(place->token);
  waiting_.erase(place);
  return done;
}

bool WaitingLine::serve(Endings& endings) {
  bool moved = false;
  while (!waiting_.empty()) {
    Status status;
    const Progress progress = waiting_.front().attempt(status);
    moved |= progress != Progress::none;
    if (progress != Progress::complete) break;
    endings.add(leave(waiting_.begin()), std::move(status));
  }
  return moved;
}

bool WaitingLine::serve_anybody(Endings& endings) {
  bool moved = false;
  for (Place place = waiting_.begin(); place != waiting_.end();) {
    Status status;
    const Place here = place++;
    const Progress progress = here->attempt(status);
    moved |= progress != Progress::none;
    if (progress == Progress::complete) endings.add(leave(here), std::move(status));
  }
  return moved;
}

void WaitingLine::end_all(const Status& status, Endings& endings) {
  while (!waiting_.empty()) endings.add(leave(waiting_.begin()), status);
}

}  // namespace troupe
