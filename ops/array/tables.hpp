// A walk with a table of offsets for each dimension: where places repeat, wrap round or mirror.
#pragma once

#include <cstdint>
#include <vector>

namespace troupe {

/// Position (i, j, …) of one side is at tables[0][i] + tables[1][j] + … of the other, in elements; runs of `run` elements follow there.
struct Tables {
  std::vector<std::vector<std::int64_t>> tables;
  std::int64_t run = 1;

  /// Calls f(offset) for all positions in order.
  template <class F>
  void for_each(F&& f) const {
    visit(0, 0, f);
  }

 private:
  template <class F>
  void visit(std::size_t d, std::int64_t base, F& f) const {
    if (d == tables.size()) return f(base);
    for (std::int64_t offset : tables[d]) visit(d + 1, base + offset, f);
  }
};

}  // namespace troupe
