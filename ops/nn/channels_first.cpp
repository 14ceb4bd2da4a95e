// Moves the channels of images to the end and back.
#include <troupe/ops/nn/channels_first.hpp>

#include <troupe/ops/parallel.hpp>

#include <algorithm>

namespace troupe {

namespace {

// Squares of this many elements a side stay in the nearest cache.
constexpr std::int64_t square = 32;

template <class T>
void transpose(const T* from, T* to, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += square)
    for (std::int64_t c0 = 0; c0 < columns; c0 += square)
      for (std::int64_t r = r0; r < std::min(r0 + square, rows); ++r)
        for (std::int64_t c = c0; c < std::min(c0 + square, columns); ++c) to[c * rows + r] = from[r * columns + c];
}

/// Each of the batch's matrices transposed.
Tensor transposed(const Tensor& t, Shape shape, std::int64_t rows, std::int64_t columns) {
  Tensor out(t.dtype(), std::move(shape));
  const std::int64_t each = rows * columns;
  const auto run = [&]<class T>(T) {
    in_parallel(t.dim(0), static_cast<double>(each), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) transpose(t.data<T>() + b * each, out.mutable_data<T>() + b * each, rows, columns);
    });
  };
  if (out.size() == 0) return out;
  if (size_of(t.dtype()) == 2) run(std::uint16_t{});
  else run(std::uint32_t{});
  return out;
}

template <class T>
Tensor rotated(const Tensor& sizes) {
  Tensor out = sizes.copy();
  std::rotate(out.mutable_data<T>() + 1, out.mutable_data<T>() + 2, out.mutable_data<T>() + out.size());
  return out;
}

}  // namespace

Tensor channels_last(const Tensor& t) {
  if (t.rank() < 3) return t;
  Shape shape = t.shape();
  shape.remove_dim(1);
  shape.add_dim(t.dim(1));
  return transposed(t, shape, t.dim(1), t.shape().elements(2, t.rank()));
}

Tensor channels_first(const Tensor& t) {
  if (t.rank() < 3) return t;
  const int last = t.rank() - 1;
  Shape shape = t.shape();
  shape.remove_dim(last);
  shape.insert_dim(1, t.dim(last));
  return transposed(t, shape, t.shape().elements(1, last), t.dim(last));
}

Tensor sizes_channels_last(const Tensor& sizes, std::int64_t rank) {
  if (sizes.rank() != 1 || sizes.size() != rank || rank < 3) return sizes;
  return sizes.dtype() == DType::i64 ? rotated<std::int64_t>(sizes) : rotated<std::int32_t>(sizes);
}

std::vector<std::int64_t> list_channels_last(std::vector<std::int64_t> list, std::size_t rank) {
  if (rank < 3) return list;
  if (list.size() == rank) std::rotate(list.begin() + 1, list.begin() + 2, list.end());
  else if (list.size() == 2 * rank) std::rotate(list.begin() + 2, list.begin() + 4, list.end());
  return list;
}

}  // namespace troupe
