// Decompositions with orthogonal factors: QR; and least squares.
#include <troupe/ops/linalg/matrices.hpp>

#include <Eigen/Cholesky>
#include <Eigen/QR>

namespace troupe {

namespace {

template <class S>
struct Factors {
  MatrixOf<S> q, r;
};
template <class S>
Factors<S> decompose(const MatrixOf<S>& a, bool full) {
  const Eigen::Index inner = full ? a.rows() : std::min(a.rows(), a.cols());
  if (a.size() == 0) return {MatrixOf<S>::Identity(a.rows(), inner), MatrixOf<S>::Zero(inner, a.cols())};
  const Eigen::HouseholderQR<MatrixOf<S>> qr(a);
  return {qr.householderQ() * MatrixOf<S>::Identity(a.rows(), inner), qr.matrixQR().topRows(inner).template triangularView<Eigen::Upper>()};
}

template <class T>
Status qr(Call& call, const In<T>& x, bool full) {
  TRY_ASSIGN(auto m, Matrices::of(x.shape()));
  const std::int64_t inner = full ? m.rows : std::min(m.rows, m.columns);
  T* q = call.alloc<T>(0, m.with({m.rows, inner}));
  T* r = call.alloc<T>(1, m.with({inner, m.columns}));
  for (std::int64_t i = 0; i < m.count; ++i) {
    const auto f = decompose(load_matrix(x.data() + i * m.size(), m.rows, m.columns), full);
    store_matrix(f.q, q + i * m.rows * inner);
    store_matrix(f.r, r + i * inner * m.columns);
  }
  return absl::OkStatus();
}

template <class S>
StatusOr<MatrixOf<S>> least_squares(const MatrixOf<S>& a, const MatrixOf<S>& b, double regularizer, bool fast) {
  if (!fast) return MatrixOf<S>(Eigen::CompleteOrthogonalDecomposition<MatrixOf<S>>(a).solve(b));
  const bool tall = a.rows() >= a.cols();
  MatrixOf<S> gram = tall ? MatrixOf<S>(a.adjoint() * a) : MatrixOf<S>(a * a.adjoint());
  gram.diagonal().array() += S(regularizer);
  const Eigen::LLT<MatrixOf<S>> llt(gram);
  if (llt.info() != Eigen::Success)
    return invalid("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger l2_regularizer > 0.");
  return tall ? MatrixOf<S>(llt.solve(a.adjoint() * b)) : MatrixOf<S>(a.adjoint() * llt.solve(b));
}

template <class T>
Status least_squares(Call& call, const In<T>& a, const In<T>& b, const In<double>& regularizer, bool fast) {
  if (a.dims() < 2) return invalid("Input tensor 0 must have rank >= 2, got {}", a.dims());
  TRY(check_batches(a.shape(), b.shape()));
  TRY_ASSIGN(auto left, Matrices::of(a.shape()));
  TRY_ASSIGN(auto right, Matrices::of(b.shape()));
  if (left.rows != right.rows) return invalid("Input matrix and rhs are incompatible.");
  if (regularizer.dims() != 0) return invalid("l2_regularizer must be scalar, got shape {}", regularizer.shape());
  if (regularizer[0] < 0) return invalid("l2_regularizer must be >= 0.");
  const Shape shape = left.with({left.columns, right.columns});
  T* out = call.alloc<T>(0, shape);
  if (left.size() == 0 || right.columns == 0) {
    std::fill_n(out, shape.elements(), T(0));
    return absl::OkStatus();
  }
  for (std::int64_t i = 0; i < left.count; ++i) {
    TRY_ASSIGN(auto x, least_squares(load_matrix(a.data() + i * left.size(), left.rows, left.columns),
                                     load_matrix(b.data() + i * right.size(), right.rows, right.columns), regularizer[0], fast));
    store_matrix(x, out + i * left.columns * right.columns);
  }
  return absl::OkStatus();
}

}  // namespace

void add_orthogonal(Registry& ops) {
  ops.add("Qr", joined<linalg_types, types<half>>{},
          []<class T>(Call& call, In<T> x, Attr<"full_matrices", bool> full) { return qr(call, x, *full); });
  ops.add({"MatrixSolveLs", "BatchMatrixSolveLs"}, linalg_types{},
          []<class T>(Call& call, In<T> a, In<T> b, In<double> regularizer, Attr<"fast", bool> fast) {
            return least_squares(call, a, b, regularizer, *fast);
          });
  ops.cost({"Qr", "MatrixSolveLs", "BatchMatrixSolveLs"}, 500);
}

}  // namespace troupe
