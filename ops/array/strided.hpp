// What a strided slice means for a given shape: begin, step and size of each dimension, and the shape of the result.
#pragma once

#include <troupe/ops/array/walk.hpp>

namespace troupe {

struct StridedMasks {
  std::int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
};

struct Strided {
  Dims begin, stride, size;  // of each dimension of what is sliced
  Shape result;
  Dims kept;  // for each dimension of the result, the dimension it comes from; -1 for a new one

  /// Refuses what does not fit with TensorFlow's texts.
  static StatusOr<Strided> of(const Shape& shape, const Tensor& begin, const Tensor& end, const Tensor& strides, const StridedMasks& masks);

  /// Whether it is rows [begin, begin + size) of the first dimension and all of the others.
  bool is_rows(const Shape& shape) const;
  /// A walk over the places of the slice; the other side is contiguous. `from` is the sliced side.
  Walk reading(const Shape& shape) const;
};

}  // namespace troupe
