// Tiles of matrix products: what fits into the vector registers of a processor.
#pragma once

#include <cstdint>

namespace troupe {

/// c = a * b, or c += a * b, for a few rows and columns, which lie in b and c one after the other. In a, rows lie a_row and columns a_inner apart;
/// one of both is 1.
template <class T>
struct Tile {
  const T* a;
  std::int64_t a_row, a_inner;
  const T* b;
  std::int64_t b_inner;
  T* copy;  // where the rows of b go besides, one after the other and whole; may be null
  T* c;
  std::int64_t c_row;
  std::int64_t inner;
  int rows, columns;
  bool accumulate;
};

/// How a set of instructions computes tiles. Whole vectors of b are read, also where a tile is narrower; only the widest tiles are copied.
template <class T>
struct Tiles {
  int most_rows;  // of a tile
  int columns;    // of the widest tile: two vectors
  void (*compute)(const Tile<T>& tile);
};

/// Those of this processor, for float and double, or of what it is held to (TROUPE_ISA); null where vectors are too short to be worth it.
template <class T>
const Tiles<T>* tiles();

// The sets, for processors that have them.
namespace avx2 {
extern const Tiles<float> float_tiles;
extern const Tiles<double> double_tiles;
}  // namespace avx2
namespace avx512 {
extern const Tiles<float> float_tiles;
extern const Tiles<double> double_tiles;
}  // namespace avx512

}  // namespace troupe
