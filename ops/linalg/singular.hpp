// Singular values and vectors of one matrix. Eigen takes long to compile here, so each type has a file of its own.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <Eigen/Core>

namespace troupe {

template <class S>
struct Singular {
  Eigen::VectorXd values;
  Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> u, v;
};

/// u and v are empty unless vectors are asked for. Instantiated for double and complex128.
template <class S>
Singular<S> singular(const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>& a, bool vectors, bool full);
extern template Singular<double> singular<double>(const Eigen::MatrixXd&, bool, bool);
extern template Singular<complex128> singular<complex128>(const Eigen::MatrixXcd&, bool, bool);

}  // namespace troupe
