// A copy between two strided layouts: what slicing, transposing, tiling, reversing and padding have in common.
#pragma once

#include <troupe/messaging/shape.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace troupe {

/// Row-major steps of a shape, in elements.
Dims steps_of(const Shape& shape);

/// Sizes to go through, outermost first, with the step that each dimension takes on either side. A step may be zero or negative.
struct Walk {
  Dims size, from_step, to_step;
  std::int64_t from = 0, to = 0;  // where it starts, in elements

  void add(std::int64_t n, std::int64_t from_by, std::int64_t to_by) {
    size.push_back(n);
    from_step.push_back(from_by);
    to_step.push_back(to_by);
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t s : size) n *= s;
    return n;
  }
  /// The same walk with dimensions of size one dropped and neighbours that continue each other merged; at least one remains.
  Walk simplified() const;
  void swap_dimensions(std::size_t a, std::size_t b);
  /// Positions [first, last) of the outermost dimension.
  Walk part(std::int64_t first, std::int64_t last) const;

  /// Calls f(from, to) at each position of the dimensions before the last `inner`.
  template <class F>
  void for_each_outer(std::size_t inner, F&& f) const {
    const std::size_t outer = size.size() - inner;
    Dims at(outer, 0);
    std::int64_t x = from, y = to;
    while (true) {
      f(x, y);
      std::size_t d = outer;
      while (d-- > 0) {
        x += from_step[d];
        y += to_step[d];
        if (++at[d] < size[d]) break;
        x -= from_step[d] * size[d];
        y -= to_step[d] * size[d];
        at[d] = 0;
      }
      if (d == static_cast<std::size_t>(-1)) return;
    }
  }
};

namespace detail {

template <class S>
__attribute__((optimize("O3"))) void copy_row(const S* from, std::int64_t from_step, S* to, std::int64_t to_step, std::int64_t n) {
  if (to_step == 1 && from_step == 1) {
    std::copy_n(from, n, to);
  } else if (to_step == 1 && from_step == 0) {
    const S value = *from;
    for (std::int64_t i = 0; i < n; ++i) to[i] = value;
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

/// Copies row by row, as several threads where that may pay.
template <class S>
void copy_rows(const Walk& walk, const S* from, S* to) {
  constexpr std::int64_t many = 100'000;
  const std::size_t inner = walk.size.size() - 1;
  const auto copy = [&](const Walk& w) {
    w.for_each_outer(1, [&](std::int64_t x, std::int64_t y) { copy_row(from + x, w.from_step[inner], to + y, w.to_step[inner], w.size[inner]); });
  };
  const std::int64_t elements = walk.elements();
  if (elements < many) return copy(walk);
  const double ns = 0.05 * sizeof(S) * static_cast<double>(elements / walk.size[0]);
  in_parallel(walk.size[0], ns, Cut::fine, [&](std::int64_t first, std::int64_t last) { copy(walk.part(first, last)); });
}

constexpr std::int64_t square_side = 16;

/// A whole square: what lies side by side is read once, before anything is written.
template <class S>
__attribute__((optimize("O3"))) void copy_square(const S* from, std::int64_t from_step, S* to, std::int64_t to_step) {
  S kept[square_side][square_side];
  for (std::int64_t b = 0; b < square_side; ++b)
    for (std::int64_t a = 0; a < square_side; ++a) kept[b][a] = from[b * from_step + a];
  for (std::int64_t a = 0; a < square_side; ++a)
    for (std::int64_t b = 0; b < square_side; ++b) to[a * to_step + b] = kept[b][a];
}

/// Two dimensions that are contiguous on opposite sides go in squares that stay in the cache.
template <class S>
void copy_squares(const S* from, S* to, const Walk& walk, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t side = square_side;
  const std::size_t r = walk.size.size() - 2, c = r + 1;
  for (std::int64_t i = first; i < last; i += side)
    for (std::int64_t j = 0; j < walk.size[c]; j += side) {
      const std::int64_t rows = std::min(side, last - i), columns = std::min(side, walk.size[c] - j);
      if constexpr (std::is_trivially_copyable_v<S>) {
        if (rows == side && columns == side) {
          copy_square(from + i + j * walk.from_step[c], walk.from_step[c], to + i * walk.to_step[r] + j, walk.to_step[r]);
          continue;
        }
      }
      for (std::int64_t a = i; a < i + rows; ++a)
        for (std::int64_t b = j; b < j + columns; ++b) to[a * walk.to_step[r] + b] = from[a + b * walk.from_step[c]];
    }
}

}  // namespace detail

template <class S>
void copy_along(const Walk& given, const S* from, S* to) {
  if (given.elements() == 0) return;
  Walk walk = given.simplified();
  const std::size_t last = walk.size.size() - 1;
  if (last > 0 && walk.to_step[last] == 1 && walk.from_step[last] != 1 && walk.from_step[last] != 0) {
    for (std::size_t d = 0; d < last; ++d)
      if (walk.from_step[d] == 1) {
        walk.swap_dimensions(d, last - 1);
        const std::int64_t rows = walk.size[last - 1], bands = (rows + detail::square_side - 1) / detail::square_side;
        walk.for_each_outer(2, [&](std::int64_t x, std::int64_t y) {
          in_parallel(bands, static_cast<double>(detail::square_side * walk.size[last]), [&](std::int64_t first, std::int64_t end) {
            detail::copy_squares(from + x, to + y, walk, first * detail::square_side, std::min(rows, end * detail::square_side));
          });
        });
        return;
      }
  }
  detail::copy_rows(walk, from, to);
}

/// Copies elements of any type from one tensor's memory into another's of the same dtype.
void copy_along(const Walk& walk, const Tensor& from, Tensor& to);
/// Copies all of a tensor into another's memory, from element `at` on.
void copy_into(const Tensor& from, Tensor& to, std::int64_t at);
/// Sets every element to the one value of a tensor.
void fill_with(const Tensor& value, Tensor& to);

}  // namespace troupe
