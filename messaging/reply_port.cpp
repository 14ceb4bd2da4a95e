// Slots of expected replies, and the port's actor.
#include <troupe/messaging/reply_port.hpp>

#include <caf/actor.hpp>
#include <caf/actor_config.hpp>
#include <caf/make_actor.hpp>

namespace troupe {
namespace {

// A request id has 60 bits: one that is always set, as 0 means no request, then generation and slot.
constexpr unsigned slot_bits = 27;
constexpr std::uint64_t slot_mask = (1ull << slot_bits) - 1;
constexpr std::uint64_t generation_mask = 0xFFFFFFFFull;
constexpr std::uint64_t always_set = 1ull << 59;

}  // namespace

caf::message_id ReplyActor::expect(std::unique_ptr<ReplyTaker> taker, caf::actor_id asked) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.taker = std::move(taker);
  slot.asked = asked;
  slot.generation = (slot.generation + 1) & generation_mask;
  return caf::make_message_id(always_set | slot.generation << slot_bits | index);
}

std::unique_ptr<ReplyTaker> ReplyActor::taker_of(std::uint64_t request_id) {
  const std::size_t index = request_id & slot_mask;
  std::lock_guard lock(mutex_);
  if (index >= slots_.size() || slots_[index].generation != ((request_id >> slot_bits) & generation_mask)) return nullptr;
  if (slots_[index].taker) free_.push_back(static_cast<std::uint32_t>(index));
  return std::move(slots_[index].taker);
}

std::vector<std::unique_ptr<ReplyTaker>> ReplyActor::takers(caf::actor_id asked) {
  std::vector<std::unique_ptr<ReplyTaker>> all;
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].taker || (asked != 0 && slots_[i].asked != asked)) continue;
    all.push_back(std::move(slots_[i].taker));
    free_.push_back(static_cast<std::uint32_t>(i));
  }
  return all;
}

void ReplyActor::cancel(caf::message_id id, const Status& reason) {
  auto taker = taker_of(id.request_id().integer_value());
  if (!taker) return;
  taker->give_up(reason);
  taker->fail(to_caf(reason));
  notice_none();
}

void ReplyActor::give_up_all(const Status& reason) {
  std::lock_guard lock(mutex_);
  for (Slot& slot : slots_)
    if (slot.taker) slot.taker->give_up(reason);
}

void ReplyActor::fail_all(const Status& reason, caf::actor_id asked) {
  for (auto& taker : takers(asked)) taker->fail(to_caf(reason));
  notice_none();
}

void ReplyActor::drop_all() {
  takers(0).clear();
  notice_none();
}

void ReplyActor::when_none(std::function<void()> f) {
  {
    std::lock_guard lock(mutex_);
    when_none_ = std::move(f);
    closing_.store(true);
  }
  notice_none();
}

void ReplyActor::notice_none() {
  std::function<void()> notify;
  {
    std::lock_guard lock(mutex_);
    if (when_none_ && free_.size() == slots_.size()) notify.swap(when_none_);
  }
  if (notify) notify();
}

void ReplyActor::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  if (!element->mid.is_response()) return bounce(element, caf::make_error(caf::sec::unexpected_message));
  auto taker = taker_of(element->mid.request_id().integer_value());
  if (!taker) return;
  auto& content = element->content();
  if (content.match_elements<caf::error>()) taker->fail(content.get_as<caf::error>(0));
  else taker->take(content);
  if (closing_.load(std::memory_order_relaxed)) notice_none();
}

ReplyPort::ReplyPort(caf::actor_system& system) {
  caf::actor_config config;
  pointer_ = caf::make_actor<ReplyActor, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config);
}

}  // namespace troupe
