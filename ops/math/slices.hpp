// Slices of a tensor along one axis, each with a range of its own, as quantisation uses them.
#pragma once

#include <troupe/messaging/shape.hpp>

#include <cstdint>

namespace troupe {

/// A shape as outer x slices x inner. Without an axis (-1) the whole tensor is one slice.
struct Slices {
  std::int64_t outer = 1, count = 1, inner = 1;

  static Slices of(const Shape& shape, int axis) {
    if (axis < 0) return {1, 1, shape.elements()};
    return {shape.elements(0, axis), shape.dim(axis), shape.elements(axis + 1, shape.rank())};
  }

  /// Calls visit(first element, elements) for each run of slice k.
  template <class Visit>
  void for_each_run(std::int64_t k, Visit&& visit) const {
    for (std::int64_t o = 0; o < outer; ++o) visit((o * count + k) * inner, inner);
  }
};

}  // namespace troupe
