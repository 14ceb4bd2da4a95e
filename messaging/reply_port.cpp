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

caf::message_id ReplyActor::expect(std::unique_ptr<ReplyTaker> taker) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.taker = std::move(taker);
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

void ReplyActor::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  if (!element->mid.is_response()) return bounce(element, caf::make_error(caf::sec::unexpected_message));
  auto taker = taker_of(element->mid.request_id().integer_value());
  if (!taker) return;
  auto& content = element->content();
  if (content.match_elements<caf::error>()) taker->fail(content.get_as<caf::error>(0));
  else taker->take(content);
}

ReplyPort::ReplyPort(caf::actor_system& system) {
  caf::actor_config config;
  pointer_ = caf::make_actor<ReplyActor, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, config);
}

}  // namespace troupe
