// Products of matrices in memory, the one place that chooses between tiles of our own, oneDNN, Eigen and plain loops.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <cstdint>

namespace troupe {

/// Sizes of a product (rows x inner) * (inner x columns). All matrices are dense and row-major.
struct GemmSizes {
  std::int64_t rows, inner, columns;
  std::int64_t elements() const { return rows * columns; }
};
/// How an operand lies in memory: as it is, transposed, or transposed and conjugated.
enum class Side { plain, transposed, adjoint };

/// c = a * b, or c += a * b. Instantiated for every type that TensorFlow multiplies matrices of.
template <class T>
void gemm(const GemmSizes& sizes, const T* a, Side side_a, const T* b, Side side_b, T* c, bool accumulate = false);

/// Makes oneDNN compute on the calling thread only. Call before anything of oneDNN.
void keep_to_this_thread();

}  // namespace troupe
