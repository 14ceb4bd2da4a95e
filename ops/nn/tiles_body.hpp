// The tiles themselves: included once for each set of instructions, after `vector_bytes` and `most_rows` have been defined in a namespace of
// that set. Nothing else is included: what is compiled here must not serve other processors.
#include <troupe/ops/nn/tiles.hpp>

namespace troupe::TROUPE_TILES {
namespace {

template <class T>
struct Lanes {
  typedef T Vector __attribute__((vector_size(vector_bytes)));
  typedef T Unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
  static constexpr int count = vector_bytes / sizeof(T);
};

/// One element after the other of each row of a. A processor adds a step, or two, to a pointer as it reads, so that a pointer serves three rows.
template <class T, int rows, bool by_rows>
class Left {
 public:
  explicit Left(const Tile<T>& tile) : row_(by_rows ? tile.a_row : 1), inner_(by_rows ? 1 : tile.a_inner) {
#pragma GCC unroll 16
    for (int i = 0; i < pointers; ++i) at_[i] = tile.a + i * (by_rows ? 3 : rows) * row_;
  }
  T operator[](int row) const { return by_rows ? at_[row / 3][row % 3 * row_] : at_[0][row]; }
  void next() {
#pragma GCC unroll 16
    for (int i = 0; i < pointers; ++i) {
      at_[i] += inner_;
      asm volatile("" : "+r"(at_[i]));  // or the compiler makes all of them from one again
    }
  }

 private:
  static constexpr int pointers = by_rows ? (rows + 2) / 3 : 1;
  const std::int64_t row_, inner_;
  const T* at_[pointers];
};

template <class T, int rows, int vectors, bool by_rows, bool copies>
void sum_up(const Tile<T>& tile) {
  using Vector = typename Lanes<T>::Vector;
  using Unaligned = typename Lanes<T>::Unaligned;
  constexpr int width = Lanes<T>::count, ahead = 16;
  Vector sum[rows][vectors] = {};
  Left<T, rows, by_rows> a(tile);
  const T* b = tile.b;
  T* copy = tile.copy;
  for (std::int64_t k = 0; k < tile.inner; ++k) {
    Vector right[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      right[v] = *reinterpret_cast<const Unaligned*>(b + v * width);
      __builtin_prefetch(b + ahead * tile.b_inner + v * width);
      if (copies) *reinterpret_cast<Unaligned*>(copy + v * width) = right[v];
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const T left = a[i];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] += left * right[v];
    }
    a.next();
    b += tile.b_inner;
    if (copies) copy += vectors * width;
  }
  const bool whole = tile.columns == vectors * width;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    T* c = tile.c + i * tile.c_row;
    if (whole) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        auto& out = *reinterpret_cast<Unaligned*>(c + v * width);
        out = tile.accumulate ? out + sum[i][v] : sum[i][v];
      }
    } else {
      T row[vectors * width];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) *reinterpret_cast<Unaligned*>(row + v * width) = sum[i][v];
      for (int j = 0; j < tile.columns; ++j) c[j] = tile.accumulate ? c[j] + row[j] : row[j];
    }
  }
}

template <class T, int rows, bool by_rows>
void compute_rows(const Tile<T>& tile) {
  if (tile.columns <= Lanes<T>::count) return sum_up<T, rows, 1, by_rows, false>(tile);
  return tile.copy ? sum_up<T, rows, 2, by_rows, true>(tile) : sum_up<T, rows, 2, by_rows, false>(tile);
}

template <class T, int rows = most_rows>
void compute(const Tile<T>& tile) {
  if constexpr (rows > 1)
    if (tile.rows < rows) return compute<T, rows - 1>(tile);
  return tile.a_inner == 1 ? compute_rows<T, rows, true>(tile) : compute_rows<T, rows, false>(tile);
}

}  // namespace

extern const Tiles<float> float_tiles{most_rows, 2 * Lanes<float>::count, &compute<float>};
extern const Tiles<double> double_tiles{most_rows, 2 * Lanes<double>::count, &compute<double>};

}  // namespace troupe::TROUPE_TILES
