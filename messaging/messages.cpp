// Numbers of calls.
#include <troupe/messaging/messages.hpp>

#include <atomic>

namespace troupe {

std::uint64_t next_call_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace troupe
