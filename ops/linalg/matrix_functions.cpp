// Exponential, logarithm and square root of matrices.
#include <troupe/ops/linalg/matrices.hpp>

#include <Eigen/LU>
#include <unsupported/Eigen/MatrixFunctions>

#include <limits>

namespace troupe {

namespace {

enum class Function { exponential, logarithm, root };

/// Real matrices are computed as complex ones too: one instance of Eigen's code does for all types.
Eigen::MatrixXcd evaluate(Function function, const Eigen::MatrixXcd& a) {
  switch (function) {
    case Function::exponential: return Eigen::MatrixXcd(a.exp());
    case Function::logarithm: return Eigen::MatrixXcd(a.log());
    default: return Eigen::MatrixXcd(a.sqrt());
  }
}

template <class T>
Status map_function(Call& call, const In<T>& x, Function function) {
  return map_square(call, x, [&](const MatrixOf<Precise<T>>& a) -> MatrixOf<Precise<T>> {
    const Eigen::MatrixXcd result = evaluate(function, a.template cast<complex128>());
    if constexpr (is_complex<T>) {
      return result;
    } else {
      // What has no real result has none at all.
      const double imaginary = result.imag().cwiseAbs().maxCoeff(), scale = result.real().cwiseAbs().maxCoeff();
      if (!(imaginary <= 1e-6 * scale)) return MatrixOf<double>::Constant(a.rows(), a.cols(), std::numeric_limits<double>::quiet_NaN());
      return result.real();
    }
  });
}

}  // namespace

void add_matrix_functions(Registry& ops) {
  ops.add("MatrixExponential", linalg_types{}, []<class T>(Call& call, In<T> x) { return map_function(call, x, Function::exponential); });
  ops.add("MatrixLogarithm", complexes{}, []<class T>(Call& call, In<T> x) { return map_function(call, x, Function::logarithm); });
  ops.add("MatrixSquareRoot", linalg_types{}, []<class T>(Call& call, In<T> x) { return map_function(call, x, Function::root); });
  ops.cost({"MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot"}, 500);
}

}  // namespace troupe
