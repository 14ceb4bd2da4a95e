// Diagonals of matrices: which, how long, and where they lie in a packed row.
#pragma once

#include <troupe/ops/array/walk.hpp>

#include <string>

namespace troupe {

/// Diagonals lower..upper of a matrix; positive ones are above the main diagonal.
struct Diagonals {
  std::int64_t lower = 0, upper = 0;

  std::int64_t count() const { return upper - lower + 1; }
};

/// On which side short diagonals begin within a packed row.
struct Alignment {
  bool super_left = true, sub_left = true;
  static Alignment of(const std::string& text) { return {text.starts_with("LEFT"), text.ends_with("LEFT")}; }
};

inline std::int64_t length_of(std::int64_t diagonal, std::int64_t rows, std::int64_t columns) {
  return std::min(rows + std::min<std::int64_t>(diagonal, 0), columns - std::max<std::int64_t>(diagonal, 0));
}
inline std::int64_t longest(const Diagonals& d, std::int64_t rows, std::int64_t columns) {
  return std::min(rows + std::min<std::int64_t>(d.upper, 0), columns - std::max<std::int64_t>(d.lower, 0));
}

/// Calls f(place in the matrix, place in the packed diagonals, length) for each diagonal; a matrix place advances by columns + 1.
template <class F>
void for_each_diagonal(const Diagonals& d, std::int64_t rows, std::int64_t columns, std::int64_t packed, Alignment align, F&& f) {
  for (std::int64_t k = d.upper; k >= d.lower; --k) {
    const std::int64_t n = std::max<std::int64_t>(0, length_of(k, rows, columns));
    const bool left = (k >= 0 && align.super_left) || (k <= 0 && align.sub_left);
    const std::int64_t row = std::max<std::int64_t>(0, -k), column = std::max<std::int64_t>(0, k);
    f(row * columns + column, (d.upper - k) * packed + (left ? 0 : packed - n), n);
  }
}

}  // namespace troupe
