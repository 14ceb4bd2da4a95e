// Two actors on two threads share a counter on purpose: a ThreadSanitizer that is off, or blind to actors, is noticed.

#include <caf/all.hpp>

namespace {

long shared_count = 0;

caf::behavior count_up(caf::event_based_actor* self) {
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
