// A walk over several inputs that are broadcast to one shape.
#pragma once

#include <troupe/messaging/shape.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace troupe {

/// How N shapes combine. Each input advances by its own steps; 0 where it is repeated.
template <std::size_t N>
struct JointBroadcast {
  Shape output;
  std::array<Shape::Dims, N> steps;

  static std::optional<JointBroadcast> of(const std::array<const Shape*, N>& shapes);

  /// Calls visit(output offset, offsets of the inputs) for each element.
  template <class Visit>
  void for_each(Visit&& visit) const {
    const int rank = output.rank();
    Shape::Dims at(static_cast<std::size_t>(rank), 0);
    std::array<std::int64_t, N> offsets{};
    const std::int64_t total = output.elements();
    for (std::int64_t o = 0; o < total; ++o) {
      visit(o, offsets);
      for (std::size_t d = static_cast<std::size_t>(rank); d-- > 0;) {
        for (std::size_t k = 0; k < N; ++k) offsets[k] += steps[k][d];
        if (++at[d] < output.dim(static_cast<int>(d))) break;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= steps[k][d] * at[d];
        at[d] = 0;
      }
    }
  }
};

template <std::size_t N>
std::optional<JointBroadcast<N>> JointBroadcast<N>::of(const std::array<const Shape*, N>& shapes) {
  JointBroadcast joint;
  int rank = 0;
  for (const Shape* s : shapes) rank = std::max(rank, s->rank());
  auto size_at = [rank](const Shape& s, int d) { return d < rank - s.rank() ? 1 : s.dim(d - (rank - s.rank())); };
  for (int d = 0; d < rank; ++d) {
    std::int64_t size = 1;
    for (const Shape* s : shapes) {
      const std::int64_t n = size_at(*s, d);
      if (n == 1) continue;
      if (size != 1 && size != n) return std::nullopt;
      size = n;
    }
    joint.output.add_dim(size);
  }
  for (std::size_t k = 0; k < N; ++k) {
    joint.steps[k] = Shape::Dims(static_cast<std::size_t>(rank), 0);
    std::int64_t step = 1;
    for (int d = rank; d-- > 0;) {
      const std::int64_t n = size_at(*shapes[k], d);
      if (n != 1) joint.steps[k][static_cast<std::size_t>(d)] = step;
      step *= n;
    }
  }
  return joint;
}

}  // namespace troupe
