// CAF's clock without a thread of its own: it tells somebody when it wants to be called.
#pragma once

#include <caf/detail/simple_actor_clock.hpp>

#include <functional>
#include <mutex>

namespace troupe {

/// Delayed messages and timeouts of actors. Thread safe. Every change that makes the earliest due time earlier calls `arm`.
class LoopClock final : public caf::detail::simple_actor_clock {
 public:
  using Base = caf::detail::simple_actor_clock;
  explicit LoopClock(std::function<void(time_point)> arm) : arm_(std::move(arm)) {}

  /// Sends everything that is due, outside of the lock.
  void fire();
  /// Somebody (else) listens to `arm`: it is called for what is pending.
  void open();
  /// Nobody will: what is pending or comes later is dropped, since it would keep its actors alive for ever.
  void close();

  void set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type, std::uint64_t id) override;
  void set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type, std::uint64_t id) override;
  void set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) override;
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override;
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point t, caf::strong_actor_ptr receiver, caf::mailbox_element_ptr content) override;
  void schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender, caf::message content) override;
  void cancel_all() override;

 private:
  template <class F>
  void change(F&& f);

  std::function<void(time_point)> arm_;
  std::mutex mutex_;
  time_point armed_ = time_point::max();
  bool open_ = true;
};

}  // namespace troupe
