// The counters of links, told.
#include <troupe/actors/link.hpp>

#include <fmt/format.h>
#include <troupe/messaging/shared_memory.hpp>

namespace troupe {

std::string to_json(const LinkCounters& c) {
  return fmt::format(
      R"({{"machine": "{}", "runs_sent": {}, "runs_served": {}, "asked": {}, "pushed": {}, "taken": {}, "dropped": {}, "shared": {}, "unclaimed": {}, "kept": {}, "wants": {}, "links": {}, "guests": {}}})",
      machine_hint(), c.runs_sent.load(), c.runs_served.load(), c.asked.load(), c.pushed.load(), c.taken.load(), c.dropped.load(), c.shared.load(),
      c.unclaimed.load(), c.kept.load(), c.wants.load(), c.links.load(), c.guests.load());
}

}  // namespace troupe
