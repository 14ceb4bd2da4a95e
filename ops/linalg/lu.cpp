// What follows from an LU decomposition: determinants, inverses, solutions, and the decomposition itself.
#include <troupe/ops/linalg/matrices.hpp>
#include <troupe/ops/nn/options.hpp>

#include <Eigen/LU>

#include <cmath>

namespace troupe {

namespace {

template <class S>
using Decomposed = Eigen::PartialPivLU<MatrixOf<S>>;

template <class S>
bool invertible(const Decomposed<S>& lu) {
  return lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

/// A determinant as sign (of absolute value 1, or 0) and logarithm of its absolute value.
template <class S>
std::pair<S, double> log_determinant(const MatrixOf<S>& a) {
  if (a.size() == 0) return {S(1), 0.0};
  const Decomposed<S> lu(a);
  S sign = S(static_cast<double>(lu.permutationP().determinant()));
  double log = 0;
  const auto& diagonal = lu.matrixLU().diagonal();
  for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
    const double magnitude = std::abs(diagonal[i]);
    sign = magnitude == 0 ? S(0) : sign * (diagonal[i] / magnitude);
    log += std::log(magnitude);
  }
  return {sign, log};
}

template <class S>
StatusOr<MatrixOf<S>> inverse(const MatrixOf<S>& a, bool adjoint) {
  const Decomposed<S> lu(adjoint ? MatrixOf<S>(a.adjoint()) : a);
  if (!invertible(lu)) return invalid("Input is not invertible.");
  return MatrixOf<S>(lu.inverse());
}

template <class S>
StatusOr<MatrixOf<S>> solve(const MatrixOf<S>& a, const MatrixOf<S>& b, bool adjoint) {
  const Decomposed<S> lu(adjoint ? MatrixOf<S>(a.adjoint()) : a);
  if (!invertible(lu)) return invalid("Input matrix is not invertible.");
  return MatrixOf<S>(lu.solve(b));
}

template <class T>
Status determinants(Call& call, const In<T>& x) {
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  T* out = call.alloc<T>(0, m.outer);
  for (std::int64_t i = 0; i < m.count; ++i) {
    const auto a = load_matrix(x.data() + i * m.size(), m.rows, m.columns);
    out[i] = m.size() == 0 ? T(1) : static_cast<T>(Decomposed<Precise<T>>(a).determinant());
  }
  return absl::OkStatus();
}

template <class T>
Status log_determinants(Call& call, const In<T>& x) {
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  T *sign = call.alloc<T>(0, m.outer), *log = call.alloc<T>(1, m.outer);
  for (std::int64_t i = 0; i < m.count; ++i) {
    const auto [s, l] = log_determinant(load_matrix(x.data() + i * m.size(), m.rows, m.columns));
    sign[i] = static_cast<T>(s);
    log[i] = static_cast<T>(l);
  }
  return absl::OkStatus();
}

template <class T>
Status solutions(Call& call, const In<T>& a, const In<T>& b, bool adjoint) {
  TRY(check_batches(a.shape(), b.shape()));
  TRY_ASSIGN(auto left, Matrices::of(a.shape()));
  TRY_ASSIGN(auto right, Matrices::of(b.shape()));
  if (left.rows != left.columns) return invalid("First input (lhs) must be a square matrix.");
  if (left.rows != right.rows) return invalid("Input matrix and rhs are incompatible.");
  T* out = call.alloc<T>(0, b.shape());
  for (std::int64_t i = 0; i < left.count && b.size() > 0; ++i) {
    TRY_ASSIGN(auto x, solve(load_matrix(a.data() + i * left.size(), left.rows, left.columns),
                             load_matrix(b.data() + i * right.size(), right.rows, right.columns), adjoint));
    store_matrix(x, out + i * right.size());
  }
  return absl::OkStatus();
}

template <class T, class I>
Status decompositions(Call& call, const In<T>& x) {
  if (x.dims() < 2) return invalid("Input tensor must have rank >= 2, got {}", x.dims());
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  T* out = call.alloc<T>(0, x.shape());
  I* order = call.alloc<I>(1, m.with({m.rows}));
  for (std::int64_t i = 0; i < m.count && m.size() > 0; ++i) {
    const Decomposed<Precise<T>> lu(load_matrix(x.data() + i * m.size(), m.rows, m.columns));
    if (!invertible(lu)) return invalid("Input is not invertible.");
    store_matrix(lu.matrixLU(), out + i * m.size());
    const Eigen::PermutationMatrix<Eigen::Dynamic> back = lu.permutationP().transpose();
    for (std::int64_t r = 0; r < m.rows; ++r) order[i * m.rows + r] = static_cast<I>(back.indices()[r]);
  }
  return absl::OkStatus();
}

}  // namespace

void add_lu(Registry& ops) {
  ops.add({"MatrixDeterminant", "BatchMatrixDeterminant"}, linalg_types{}, []<class T>(Call& call, In<T> x) { return determinants(call, x); });
  ops.add("LogMatrixDeterminant", linalg_types{}, []<class T>(Call& call, In<T> x) { return log_determinants(call, x); });
  ops.add({"MatrixInverse", "BatchMatrixInverse"}, joined<linalg_types, types<half>>{},
          []<class T>(Call& call, In<T> x, Attr<"adjoint", bool> adjoint) {
            return map_square(call, x, [&](const MatrixOf<Precise<T>>& a) { return inverse(a, *adjoint); });
          });
  ops.add({"MatrixSolve", "BatchMatrixSolve"}, linalg_types{},
          []<class T>(Call& call, In<T> a, In<T> b, Attr<"adjoint", bool> adjoint) { return solutions(call, a, b, *adjoint); });
  ops.add("Lu", On<"T", linalg_types>{}, On<"output_idx_type", indices>{},
          []<class T, class I>(Call& call, In<T> x, Gives<I>) { return decompositions<T, I>(call, x); });
  ops.cost({"MatrixDeterminant", "BatchMatrixDeterminant", "LogMatrixDeterminant", "MatrixInverse", "BatchMatrixInverse", "MatrixSolve",
            "BatchMatrixSolve", "Lu"},
           100);
}

}  // namespace troupe
