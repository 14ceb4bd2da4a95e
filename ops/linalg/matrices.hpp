// Batches of matrices: their checks, and the way into Eigen and back. Decompositions are computed in double precision.
#pragma once

#include <troupe/ops/kernel.hpp>

#include <Eigen/Core>

namespace troupe {

template <class T>
using Precise = std::conditional_t<is_complex<T>, complex128, double>;
template <class S>
using MatrixOf = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

using linalg_types = types<float, double, complex64, complex128>;

/// The innermost two dimensions of a tensor are matrices; those before count them.
struct Matrices {
  Shape outer;
  std::int64_t count = 0, rows = 0, columns = 0;

  static StatusOr<Matrices> of(const Shape& shape, int input = 0) {
    if (shape.rank() < 2) return invalid("Input tensor {} must have rank >= 2, got {}", input, shape.rank());
    const int outer = shape.rank() - 2;
    return Matrices{Shape(shape.dims().first(static_cast<std::size_t>(outer))), shape.elements(0, outer), shape[outer], shape[outer + 1]};
  }
  static StatusOr<Matrices> square(const Shape& shape) {
    TRY_ASSIGN(auto m, of(shape));
    if (m.rows != m.columns) return invalid("Input matrix must be square.");
    return m;
  }
  std::int64_t size() const { return rows * columns; }
  /// A shape of as many matrices (or vectors) of another size.
  Shape with(std::initializer_list<std::int64_t> inner) const {
    Shape s = outer;
    for (std::int64_t n : inner) s.add_dim(n);
    return s;
  }
};

/// The sizes of two inputs that hold as many matrices as each other.
inline Status check_batches(const Shape& a, const Shape& b) {
  if (a.rank() < 2) return invalid("Input tensor 0 must have rank >= 2, got {}", a.rank());
  if (a.rank() != b.rank()) return invalid("All input tensors must have the same rank.");
  for (int i = 0; i < a.rank() - 2; ++i)
    if (a[i] != b[i]) return invalid("All input tensors must have the same outer dimensions.");
  return absl::OkStatus();
}

template <class T>
MatrixOf<Precise<T>> load_matrix(const T* data, std::int64_t rows, std::int64_t columns) {
  return ConstMatrixMap<T>(data, rows, columns).template cast<Precise<T>>();
}
template <class T, class M>
void store_matrix(const M& matrix, T* out) {
  MatrixMap<T>(out, matrix.rows(), matrix.cols()) = matrix.template cast<T>();
}

/// One square matrix in, one of the same size out, for each of a batch: `f` takes and returns MatrixOf<Precise<T>>.
template <class T, class F>
Status map_square(Call& call, const In<T>& x, F&& f) {
  TRY_ASSIGN(auto m, Matrices::square(x.shape()));
  T* out = call.alloc<T>(0, x.shape());
  for (std::int64_t i = 0; i < m.count && m.size() > 0; ++i) {
    StatusOr<MatrixOf<Precise<T>>> result = f(load_matrix(x.data() + i * m.size(), m.rows, m.columns));
    if (!result.ok()) return result.status();
    store_matrix(*result, out + i * m.size());
  }
  return absl::OkStatus();
}

}  // namespace troupe
