// Events from the transport thread to the stage.
#include <troupe/actors/embed/transport.hpp>

#include <utility>

namespace troupe::embed {

Poller& StageTransport::poller() const {
  std::lock_guard lock(mutex_);
  if (!poller_) poller_ = Poller::shared();
  return *poller_;
}

void StageTransport::post_after(std::chrono::nanoseconds delay, std::function<void()> f) {
  stage_->run([this, delay, f = std::move(f)]() mutable {
    if (!closed()) stage_->post_after(this, delay, std::move(f));
  });
}

void StageTransport::arrived(TransportEvent& event, bool ok) {
  stage_->post([&event, ok] { event.complete(ok); });
}

void StageTransport::close(std::function<void()> done) {
  done_ = std::move(done);
  close_operations();
  cancel_tracked();
  stage_->drop_timers(this);
  if (under_way() == 0) idle();
}

// Posted: the last event is still on its way out when it says so.
void StageTransport::idle() {
  stage_->post([this] {
    if (auto done = std::exchange(done_, nullptr)) done();
  });
}

}  // namespace troupe::embed
