// Eigenvalues and eigenvectors, of self-adjoint and of general matrices.
#include <troupe/ops/linalg/matrices.hpp>
#include <troupe/ops/nn/options.hpp>

#include <Eigen/Eigenvalues>

namespace troupe {

namespace {

template <class S>
struct Decomposition {
  Eigen::VectorXd values;
  MatrixOf<S> vectors;
};
template <class S>
StatusOr<Decomposition<S>> self_adjoint(const MatrixOf<S>& a, bool vectors) {
  const Eigen::SelfAdjointEigenSolver<MatrixOf<S>> eig(a, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (eig.info() != Eigen::Success) return invalid("Self-adjoint eigen decomposition was not successful. The input might not be valid.");
  return Decomposition<S>{eig.eigenvalues(), vectors ? MatrixOf<S>(eig.eigenvectors()) : MatrixOf<S>()};
}

template <class T>
Status self_adjoint(Call& call, const In<T>& x, bool with_vectors) {
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  T* values = call.alloc<T>(0, m.with({m.rows}));
  T* vectors = call.alloc<T>(1, with_vectors ? x.shape() : Shape{});
  if (!with_vectors) *vectors = T(0);
  for (std::int64_t i = 0; i < m.count && m.size() > 0; ++i) {
    TRY_ASSIGN(auto d, self_adjoint(load_matrix(x.data() + i * m.size(), m.rows, m.columns), with_vectors));
    for (std::int64_t k = 0; k < m.rows; ++k) values[i * m.rows + k] = static_cast<T>(d.values[k]);
    if (with_vectors) store_matrix(d.vectors, vectors + i * m.size());
  }
  return absl::OkStatus();
}

/// The older form: eigenvalues as the first row, eigenvectors below.
template <class T>
Status stacked(Call& call, const In<T>& x) {
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  T* out = call.alloc<T>(0, m.with({m.rows + 1, m.columns}));
  for (std::int64_t i = 0; i < m.count && m.size() > 0; ++i) {
    TRY_ASSIGN(auto d, self_adjoint(load_matrix(x.data() + i * m.size(), m.rows, m.columns), true));
    MatrixOf<double> both(m.rows + 1, m.columns);
    both << d.values.transpose(), d.vectors;
    store_matrix(both, out + i * (m.rows + 1) * m.columns);
  }
  return absl::OkStatus();
}

/// Real matrices have a solver of their own, which finds the values in another order.
template <class S>
StatusOr<std::pair<Eigen::VectorXcd, Eigen::MatrixXcd>> general(const MatrixOf<S>& a, bool vectors) {
  using Solver = std::conditional_t<is_complex<S>, Eigen::ComplexEigenSolver<MatrixOf<S>>, Eigen::EigenSolver<MatrixOf<S>>>;
  const Solver eig(a, vectors);
  if (eig.info() != Eigen::Success) return invalid("Eigen decomposition was not successful. The input might not be valid.");
  return std::pair(Eigen::VectorXcd(eig.eigenvalues()), vectors ? Eigen::MatrixXcd(eig.eigenvectors()) : Eigen::MatrixXcd());
}

template <class T, class C>
Status general(Call& call, const In<T>& x, bool with_vectors) {
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  C* values = call.alloc<C>(0, m.with({m.rows}));
  C* vectors = call.alloc<C>(1, with_vectors ? x.shape() : Shape{});
  if (!with_vectors) *vectors = C(0);
  for (std::int64_t i = 0; i < m.count && m.size() > 0; ++i) {
    TRY_ASSIGN(auto found, general<Precise<T>>(load_matrix(x.data() + i * m.size(), m.rows, m.columns), with_vectors));
    for (std::int64_t k = 0; k < m.rows; ++k) values[i * m.rows + k] = static_cast<C>(found.first[k]);
    if (with_vectors) store_matrix(found.second, vectors + i * m.size());
  }
  return absl::OkStatus();
}

}  // namespace

void add_eigen(Registry& ops) {
  ops.add({"SelfAdjointEigV2", "BatchSelfAdjointEigV2"}, linalg_types{},
          []<class T>(Call& call, In<T> x, Attr<"compute_v", bool> vectors) { return self_adjoint(call, x, *vectors); });
  ops.add({"SelfAdjointEig", "BatchSelfAdjointEig"}, full_floats{}, []<class T>(Call& call, In<T> x) { return stacked(call, x); });
  ops.add("Eig", On<"T", types<float, complex64>>{}, On<"Tout", types<complex64>>{},
          []<class T, class C>(Call& call, In<T> x, Gives<C>, Attr<"compute_v", bool> vectors) { return general<T, C>(call, x, *vectors); });
  ops.add("Eig", On<"T", types<double, complex128>>{}, On<"Tout", types<complex128>>{},
          []<class T, class C>(Call& call, In<T> x, Gives<C>, Attr<"compute_v", bool> vectors) { return general<T, C>(call, x, *vectors); });
  ops.cost({"SelfAdjointEigV2", "BatchSelfAdjointEigV2", "SelfAdjointEig", "BatchSelfAdjointEig", "Eig"}, 500);
}

}  // namespace troupe
