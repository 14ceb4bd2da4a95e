// Singular values of real matrices.
#include <troupe/ops/linalg/singular_body.hpp>

namespace troupe {

template Singular<double> singular<double>(const Eigen::MatrixXd&, bool, bool);

}  // namespace troupe
