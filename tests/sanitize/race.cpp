// Two actors on two threads share a counter on purpose: a ThreadSanitizer that is off, or blind to actors, is noticed.

#include <atomic>
#include <caf/all.hpp>
#include <thread>

namespace {

long shared_count = 0;
std::atomic<int> present = 0;

caf::behavior count_up(caf::event_based_actor* self) {
  // Together, and without an order between them: one that ended before the other began would be no race.
  present.fetch_add(1, std::memory_order_relaxed);
  while (present.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
  for (int i = 0; i < 100'000; ++i) ++shared_count;
  self->quit();
  return {};
}

}  // namespace

int main() {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  system.spawn<caf::detached>(count_up);
  system.spawn<caf::detached>(count_up);
  system.await_all_actors_done();
  return shared_count == 0;
}
