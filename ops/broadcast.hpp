// Broadcasting: the shape that two inputs make together and the walk over both.
#pragma once

#include <troupe/messaging/shape.hpp>

#include <cstdint>
#include <optional>

namespace troupe {

/// How two shapes combine, with neighbouring dimensions of the same kind merged.
struct Broadcast {
  Shape output;
  Shape::Dims size;                   // merged dimensions, outermost first; at least one
  Shape::Dims left_step, right_step;  // elements to advance per dimension; 0 where an input is repeated

  /// Nothing when the shapes do not fit together.
  static std::optional<Broadcast> of(const Shape& left, const Shape& right);

  /// How many innermost rows of size.back() elements there are.
  std::int64_t rows() const { return size.back() == 0 ? 0 : output.elements() / size.back(); }

  /// Calls row(output offset, left offset, right offset) for each innermost row of size.back() elements.
  template <class Row>
  void for_each_row(Row&& row) const {
    for_each_row(0, rows(), row);
  }
  /// The same for rows [first, last).
  template <class Row>
  void for_each_row(std::int64_t first, std::int64_t last, Row&& row) const {
    const std::size_t outer = size.size() - 1;
    Shape::Dims at(outer, 0);
    std::int64_t l = 0, r = 0;
    for (std::int64_t d = static_cast<std::int64_t>(outer), rest = first; d-- > 0 && rest > 0;) {
      const auto k = static_cast<std::size_t>(d);
      at[k] = rest % size[k];
      rest /= size[k];
      l += at[k] * left_step[k];
      r += at[k] * right_step[k];
    }
    const std::int64_t inner = size.back(), end = last * inner;
    for (std::int64_t o = first * inner; o < end; o += inner) {
      row(o, l, r);
      for (std::size_t d = outer; d-- > 0;) {
        l += left_step[d];
        r += right_step[d];
        if (++at[d] < size[d]) break;
        l -= left_step[d] * size[d];
        r -= right_step[d] * size[d];
        at[d] = 0;
      }
    }
  }
};

}  // namespace troupe
