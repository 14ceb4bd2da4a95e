// Numbers of calls and requests.
#include <troupe/messaging/messages.hpp>

#include <atomic>
#include <random>

namespace troupe {

std::uint64_t next_call_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::int64_t random_request_id() {
  static thread_local std::mt19937_64 random{(static_cast<std::uint64_t>(std::random_device{}()) << 32) ^ std::random_device{}()};
  for (;;)
    if (auto id = static_cast<std::int64_t>(random()); id != 0) return id;
}

}  // namespace troupe
