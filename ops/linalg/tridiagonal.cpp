// Tridiagonal matrices, given by their three diagonals: solving and multiplying.
#include <troupe/ops/linalg/matrices.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace troupe {

namespace {

/// One system: diagonals above, on and below the main one, and the right sides, which become the solution.
template <class S>
struct System {
  std::int64_t n;
  std::vector<S> above, main, below;
  MatrixOf<S> x;
};

/// Elimination without exchange of rows; false when a pivot is zero.
template <class S>
bool eliminate(System<S>& s) {
  for (std::int64_t i = 0; i < s.n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (i > 0) {
      const S factor = s.below[k] / s.main[k - 1];
      s.main[k] -= factor * s.above[k - 1];
      s.x.row(i) -= factor * s.x.row(i - 1);
    }
    if (s.main[k] == S(0)) return false;
  }
  for (std::int64_t i = s.n - 1; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    if (i + 1 < s.n) s.x.row(i) -= s.above[k] * s.x.row(i + 1);
    s.x.row(i) /= s.main[k];
  }
  return true;
}

/// Elimination that takes the larger of two pivots, which fills a second diagonal above the main one.
template <class S>
bool eliminate_pivoting(System<S>& s) {
  std::vector<S> second(static_cast<std::size_t>(s.n), S(0));
  for (std::int64_t i = 0; i + 1 < s.n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    S low = s.below[k + 1], low_main = s.main[k + 1], low_above = i + 2 < s.n ? s.above[k + 1] : S(0);
    if (std::abs(low) > std::abs(s.main[k])) {
      std::swap(s.main[k], low);
      std::swap(s.above[k], low_main);
      std::swap(second[k], low_above);
      s.x.row(i).swap(s.x.row(i + 1));
    }
    if (s.main[k] == S(0)) return false;
    const S factor = low / s.main[k];
    s.main[k + 1] = low_main - factor * s.above[k];
    if (i + 2 < s.n) s.above[k + 1] = low_above - factor * second[k];
    s.x.row(i + 1) -= factor * s.x.row(i);
  }
  if (s.n > 0 && s.main[static_cast<std::size_t>(s.n - 1)] == S(0)) return false;
  for (std::int64_t i = s.n - 1; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    if (i + 1 < s.n) s.x.row(i) -= s.above[k] * s.x.row(i + 1);
    if (i + 2 < s.n) s.x.row(i) -= second[k] * s.x.row(i + 2);
    s.x.row(i) /= s.main[k];
  }
  return true;
}

template <class T>
Status solve(Call& call, const In<T>& diagonals, const In<T>& rhs, bool pivoting) {
  using S = Precise<T>;
  TRY(check_batches(diagonals.shape(), rhs.shape()));
  TRY_ASSIGN(auto left, Matrices::of(diagonals.shape()));
  TRY_ASSIGN(auto right, Matrices::of(rhs.shape()));
  if (left.rows != 3) return invalid("Expected diagonals to be provided as a matrix with 3 rows, got {} rows.", left.rows);
  if (left.columns != right.rows)
    return invalid("Expected the same number of left-hand sides and right-hand sides, got {} and {}.", left.columns, right.rows);
  T* out = call.alloc<T>(0, rhs.shape());
  const std::int64_t n = left.columns;
  for (std::int64_t i = 0; i < left.count && rhs.size() > 0; ++i) {
    const T* d = diagonals.data() + i * 3 * n;
    System<S> s{n, {d, d + n}, {d + n, d + 2 * n}, {d + 2 * n, d + 3 * n}, load_matrix(rhs.data() + i * right.size(), n, right.columns)};
    if (!(pivoting ? eliminate_pivoting(s) : eliminate(s))) s.x.setConstant(S(std::numeric_limits<double>::quiet_NaN()));
    store_matrix(s.x, out + i * right.size());
  }
  return absl::OkStatus();
}

template <class T>
Status multiply(Call& call, const In<T>& above, const In<T>& main, const In<T>& below, const In<T>& rhs) {
  const In<T>* diagonals[] = {&above, &main, &below};
  static constexpr const char* names[] = {"superdiagonal", "main diagonal", "subdiagonal"};
  for (const In<T>* d : diagonals) TRY(check_batches(above.shape(), d->shape()));
  TRY(check_batches(above.shape(), rhs.shape()));
  TRY_ASSIGN(auto right, Matrices::of(rhs.shape()));
  const std::int64_t n = right.rows, columns = right.columns;
  for (int k = 0; k < 3; ++k) {
    const In<T>& d = *diagonals[k];
    if (d.dim(d.dims() - 2) != 1 || d.dim(d.dims() - 1) != n) return invalid("Invalid {} shape.", names[k]);
  }
  T* out = call.alloc<T>(0, rhs.shape());
  for (std::int64_t b = 0; b < right.count; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t at = (b * n + i) * columns + c;
        T sum = main[b * n + i] * rhs[at];
        if (i + 1 < n) sum += above[b * n + i] * rhs[at + columns];
        if (i > 0) sum += below[b * n + i] * rhs[at - columns];
        out[at] = sum;
      }
  return absl::OkStatus();
}

}  // namespace

void add_tridiagonal(Registry& ops) {
  ops.add("TridiagonalSolve", linalg_types{}, []<class T>(Call& call, In<T> diagonals, In<T> rhs, Attr<"partial_pivoting", bool> pivoting) {
    return solve(call, diagonals, rhs, *pivoting);
  });
  ops.add("TridiagonalMatMul", linalg_types{},
          []<class T>(Call& call, In<T> above, In<T> main, In<T> below, In<T> rhs) { return multiply(call, above, main, below, rhs); });
}

}  // namespace troupe
