// Cholesky decomposition and its gradient.
#include <troupe/ops/linalg/matrices.hpp>

#include <Eigen/Cholesky>

#include <limits>

namespace troupe {

namespace {

template <class S>
MatrixOf<S> factor(const MatrixOf<S>& a) {
  const Eigen::LLT<MatrixOf<S>> llt(a);
  MatrixOf<S> l = llt.matrixL();
  // Whoever asked sees from the NaNs which matrix of a batch is at fault; complex numbers have no NaN of their own, and TensorFlow gives zeros.
  if (llt.info() != Eigen::Success) l.template triangularView<Eigen::Lower>().setConstant(std::numeric_limits<S>::quiet_NaN());
  return l;
}

MatrixOf<double> factor_gradient(const MatrixOf<double>& from, const MatrixOf<double>& gradient) {
  const MatrixOf<double> l = from.triangularView<Eigen::Lower>();
  MatrixOf<double> phi = (l.transpose() * MatrixOf<double>(gradient.triangularView<Eigen::Lower>())).triangularView<Eigen::Lower>();
  phi.diagonal() *= 0.5;
  l.transpose().triangularView<Eigen::Upper>().solveInPlace(phi);
  l.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(phi);
  return 0.5 * (phi + phi.transpose());
}

}  // namespace

void add_cholesky(Registry& ops) {
  ops.add({"Cholesky"}, linalg_types{},
          []<class T>(Call& call, In<T> x) { return map_square(call, x, [](const MatrixOf<Precise<T>>& a) { return factor(a); }); });
  ops.add({"BatchCholesky"}, full_floats{},
          []<class T>(Call& call, In<T> x) { return map_square(call, x, [](const MatrixOf<Precise<T>>& a) { return factor(a); }); });
  ops.add({"CholeskyGrad", "BatchCholeskyGrad"}, full_floats{}, []<class T>(Call& call, In<T> l, In<T> gradient) -> Status {
    TRY(check_batches(l.shape(), gradient.shape()));
    if (l.shape() != gradient.shape()) return invalid("Inputs (L and grad) must have the same shape.");
    TRY_ASSIGN(auto m, Matrices::square(l.shape()));
    T* out = call.alloc<T>(0, l.shape());
    for (std::int64_t at = 0; at < l.size(); at += m.size())
      store_matrix(factor_gradient(load_matrix(l.data() + at, m.rows, m.columns), load_matrix(gradient.data() + at, m.rows, m.columns)), out + at);
    return absl::OkStatus();
  });
  ops.cost({"Cholesky", "BatchCholesky", "CholeskyGrad", "BatchCholeskyGrad"}, 100);
}

}  // namespace troupe
