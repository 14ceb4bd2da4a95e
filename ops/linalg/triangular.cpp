// Systems whose matrix is triangular, whole or given by its bands.
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/linalg/matrices.hpp>

#include <Eigen/Core>

namespace troupe {

namespace {

/// Batches of left and right sides that broadcast against each other.
struct Systems {
  Matrices left, right;
  Broadcast pairs;
  Shape output;
};

StatusOr<Systems> systems(const Shape& a, const Shape& b, bool lower, bool adjoint, bool banded) {
  if (a.rank() < 2) return invalid("In[0] ndims must be >= 2: {}", a.rank());
  if (b.rank() < 2) return invalid("In[1] ndims must be >= 2: {}", b.rank());
  TRY_ASSIGN(auto left, Matrices::of(a));
  TRY_ASSIGN(auto right, Matrices::of(b));
  auto pairs = Broadcast::of(left.outer, right.outer);
  if (!pairs) return invalid("In[0] and In[1] must have compatible batch dimensions: {} vs. {}", a, b);
  if (!banded && left.rows != left.columns)
    return invalid("In[0] matrices in the last dimensions must be square ({} =/= {})", left.columns, left.rows);
  if (left.columns != right.rows)
    return invalid("In[0] mismatch In[1] shape: {} vs. {}: {} {} {:d} {:d}", left.columns, right.rows, a, b, lower, adjoint);
  Shape output = pairs->output;
  output.add_dim(right.rows);
  output.add_dim(right.columns);
  return Systems{std::move(left), std::move(right), std::move(*pairs), std::move(output)};
}

/// Calls each(offset of the output, of the left side, of the right side) for every system.
template <class F>
Status for_each_system(const Systems& s, F&& each) {
  Status status;
  if (s.output.elements() == 0) return status;
  s.pairs.for_each_row([&](std::int64_t o, std::int64_t l, std::int64_t r) {
    for (std::int64_t i = 0; i < s.pairs.size.back() && status.ok(); ++i)
      status =
          each((o + i) * s.right.size(), (l + i * s.pairs.left_step.back()) * s.left.size(), (r + i * s.pairs.right_step.back()) * s.right.size());
  });
  return status;
}

/// Substitution, forwards where lower and backwards otherwise; at(i, j) gives the matrix.
template <class S, class At>
void substitute(std::int64_t n, std::int64_t columns, bool lower, std::int64_t reach, const At& at, MatrixOf<S>& x) {
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? step : n - 1 - step;
    const std::int64_t first = lower ? std::max<std::int64_t>(0, i - reach) : i + 1, last = lower ? i : std::min(n, i + reach + 1);
    for (std::int64_t c = 0; c < columns; ++c) {
      S sum = x(i, c);
      for (std::int64_t j = first; j < last; ++j) sum -= at(i, j) * x(j, c);
      x(i, c) = sum / at(i, i);
    }
  }
}

template <class S>
S conjugate(const S& v) {
  if constexpr (is_complex<S>) return std::conj(v);
  else return v;
}

template <class T>
Status solve_triangular(Call& call, const In<T>& a, const In<T>& b, bool lower, bool adjoint) {
  TRY_ASSIGN(auto s, systems(a.shape(), b.shape(), lower, adjoint, false));
  T* out = call.alloc<T>(0, s.output);
  const std::int64_t n = s.right.rows;
  return for_each_system(s, [&](std::int64_t o, std::int64_t l, std::int64_t r) {
    const T* m = a.data() + l;
    auto x = load_matrix(b.data() + r, n, s.right.columns);
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return adjoint ? conjugate(static_cast<Precise<T>>(m[j * n + i])) : static_cast<Precise<T>>(m[i * n + j]);
    };
    substitute(n, s.right.columns, lower != adjoint, n, at, x);
    store_matrix(x, out + o);
    return absl::OkStatus();
  });
}

template <class T>
Status solve_banded(Call& call, const In<T>& a, const In<T>& b, bool lower, bool adjoint) {
  if (a.dims() >= 2 && a.size() == 0)
    return invalid("In[0] must not be an empty tensor: Tensor<type: {} shape: {} values: >", name_of(a.tensor.dtype()), a.shape());
  if (a.dims() >= 2 && b.dims() >= 2 && b.size() == 0)
    return invalid("In[1] must not be an empty tensor: Tensor<type: {} shape: {} values: >", name_of(b.tensor.dtype()), b.shape());
  TRY_ASSIGN(auto s, systems(a.shape(), b.shape(), lower, adjoint, true));
  T* out = call.alloc<T>(0, s.output);
  const std::int64_t n = s.right.rows, bands = s.left.rows;
  return for_each_system(s, [&](std::int64_t o, std::int64_t l, std::int64_t r) -> Status {
    const T* m = a.data() + l;
    // Below the diagonal a band is indexed by its row, and the diagonal comes first; above it, the diagonal comes last.
    const auto band = [&](std::int64_t i, std::int64_t j) {
      const std::int64_t k = lower ? i - j : bands - 1 - (j - i);
      return static_cast<Precise<T>>(m[k * n + i]);
    };
    for (std::int64_t i = 0; i < n; ++i)
      if (band(i, i) == Precise<T>(0)) return invalid("Input matrix is not invertible.");
    auto x = load_matrix(b.data() + r, n, s.right.columns);
    substitute(
        n, s.right.columns, lower != adjoint, bands - 1, [&](std::int64_t i, std::int64_t j) { return adjoint ? conjugate(band(j, i)) : band(i, j); },
        x);
    store_matrix(x, out + o);
    return absl::OkStatus();
  });
}

}  // namespace

void add_triangular(Registry& ops) {
  ops.add({"MatrixTriangularSolve", "BatchMatrixTriangularSolve"}, linalg_types{},
          []<class T>(Call& call, In<T> a, In<T> b, Attr<"lower", bool> lower, Attr<"adjoint", bool> adjoint) {
            return solve_triangular(call, a, b, *lower, *adjoint);
          });
  ops.add("BandedTriangularSolve", linalg_types{},
          []<class T>(Call& call, In<T> a, In<T> b, Attr<"lower", bool> lower, Attr<"adjoint", bool> adjoint) {
            return solve_banded(call, a, b, *lower, *adjoint);
          });
  ops.cost({"MatrixTriangularSolve", "BatchMatrixTriangularSolve", "BandedTriangularSolve"}, 50);
}

}  // namespace troupe
