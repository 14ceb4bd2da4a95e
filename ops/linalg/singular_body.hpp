// The decomposition itself, for the files that instantiate it.
#pragma once

#include <troupe/ops/linalg/singular.hpp>

#include <Eigen/SVD>

#include <algorithm>
#include <limits>

namespace troupe {

template <class S>
Singular<S> singular(const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>& a, bool vectors, bool full) {
  using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Index inner = std::min(a.rows(), a.cols()), left = full ? a.rows() : inner, right = full ? a.cols() : inner;
  if (a.size() == 0) return {Eigen::VectorXd::Zero(inner), Matrix::Identity(a.rows(), left), Matrix::Identity(a.cols(), right)};
  if (!a.allFinite()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {Eigen::VectorXd::Constant(inner, nan), Matrix::Constant(a.rows(), left, S(nan)), Matrix::Constant(a.cols(), right, S(nan))};
  }
  const unsigned options = !vectors ? 0u : full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::BDCSVD<Matrix> svd(a, options);
  return {svd.singularValues(), vectors ? Matrix(svd.matrixU()) : Matrix(), vectors ? Matrix(svd.matrixV()) : Matrix()};
}

}  // namespace troupe
