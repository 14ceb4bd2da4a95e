// Products of matrices, cut into tiles.
#pragma once

#include <troupe/ops/nn/gemm.hpp>
#include <troupe/ops/nn/tiles.hpp>

namespace troupe {

/// c = a * b, or c += a * b; `ta` and `tb` tell which operands lie transposed. Sums run in an order that neither threads nor splits change.
template <class T>
void multiply_in_tiles(const Tiles<T>& tiles, const GemmSizes& sizes, const T* a, bool ta, const T* b, bool tb, T* c, bool accumulate);

}  // namespace troupe
