// Singular values of complex matrices.
#include <troupe/ops/linalg/singular_body.hpp>

namespace troupe {

template Singular<complex128> singular<complex128>(const Eigen::MatrixXcd&, bool, bool);

}  // namespace troupe
