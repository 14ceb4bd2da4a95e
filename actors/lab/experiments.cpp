// The table of built-in experiments; experiments.S embeds their files.
#include <troupe/actors/lab/experiments.hpp>

#define TROUPE_EXPERIMENTS(X) X(comparison) X(backup_workers) X(staleness) X(bounded_staleness) X(slow_worker) X(demo)

#define X(name) extern "C" const char troupe_lab_##name##_begin[], troupe_lab_##name##_end[];
TROUPE_EXPERIMENTS(X)
#undef X

namespace troupe::lab {

const std::vector<Experiment>& experiments() {
#define X(name) {#name, {troupe_lab_##name##_begin, static_cast<std::size_t>(troupe_lab_##name##_end - troupe_lab_##name##_begin)}},
  static const std::vector<Experiment> all{TROUPE_EXPERIMENTS(X)};
#undef X
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  for (const Experiment& experiment : experiments())
    if (experiment.name == name) return &experiment;
  return nullptr;
}

}  // namespace troupe::lab
