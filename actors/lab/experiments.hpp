// The experiments that the program brings along.
#pragma once

#include <string_view>
#include <vector>

namespace troupe::lab {

struct Experiment {
  std::string_view name, text;
};

/// In the order of `troupe lab list`.
const std::vector<Experiment>& experiments();
/// Null when there is none of this name.
const Experiment* find_experiment(std::string_view name);

}  // namespace troupe::lab
