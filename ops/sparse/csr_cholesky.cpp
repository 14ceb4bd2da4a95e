// Sparse Cholesky factors, and the order of rows that keeps them sparse.
#include <troupe/ops/sparse/csr_matrix.hpp>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

namespace troupe {
namespace {

template <class T, int Order>
using EigenMatrix = Eigen::SparseMatrix<T, Order>;

template <class T, int Order>
Eigen::Map<const EigenMatrix<T, Order>> view(const CsrMatrix& m, std::int64_t b, const T* values) {
  return {m.height(), m.width(), m.size(b), m.rows.data<std::int32_t>() + b * (m.height() + 1), m.columns.data<std::int32_t>() + m.start(b), values};
}

Status check_square(const CsrMatrix& m) {
  return m.height() == m.width() ? absl::OkStatus() : invalid("sparse matrix must be square; got: {} != {}", m.height(), m.width());
}

Status order_rows(Call& call, const CsrMatrix& m) {
  TRY(check_square(m));
  std::int32_t* out = call.alloc<std::int32_t>(0, m.rank() == 2 ? Shape{m.height()} : Shape{m.count(), m.height()});
  for (std::int64_t b = 0; b < m.count(); ++b) {
    // Only where elements are matters: the columns stand for values.
    const auto matrix = view<std::int32_t, Eigen::RowMajor>(m, b, m.columns.data<std::int32_t>() + m.start(b));
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
    Eigen::AMDOrdering<int>()(matrix.selfadjointView<Eigen::Lower>(), order);
    std::copy_n(order.indices().data(), m.height(), out + b * m.height());
  }
  return absl::OkStatus();
}

Status check_permutation(const CsrMatrix& m, const In<std::int32_t>& permutation) {
  TRY(check_square(m));
  const int rank = m.rank();
  if (permutation.dims() + 1 != rank)
    return invalid("sparse matrix must have the same rank as permutation; got: {} != {} + 1.", rank, permutation.dims());
  if (permutation.dim(rank - 2) != m.height())
    return invalid("permutation must have the same number of elements in each batch as the number of rows in sparse matrix; got: {} != {}",
                   permutation.dim(rank - 2), m.height());
  if (rank == 3 && permutation.dim(0) != m.count())
    return invalid("permutation must have the same batch size as sparse matrix; got: {} != {}", permutation.dim(0), m.count());
  for (std::int64_t b = 0; b < m.count(); ++b) {
    std::vector<bool> seen(static_cast<std::size_t>(m.height()), false);
    for (std::int64_t i = 0; i < m.height(); ++i) {
      const std::int32_t at = permutation[b * m.height() + i];
      if (at < 0 || at >= m.height() || seen[static_cast<std::size_t>(at)])
        return invalid("permutation must contain each of [0, {}) once", m.height());
      seen[static_cast<std::size_t>(at)] = true;
    }
  }
  return absl::OkStatus();
}

template <class T>
Status factorize(Call& call, const CsrMatrix& m, const In<std::int32_t>& permutation) {
  TRY(check_permutation(m, permutation));
  using Columns = EigenMatrix<T, Eigen::ColMajor>;
  std::vector<CsrElement<T>> elements;
  for (std::int64_t b = 0; b < m.count(); ++b) {
    // Read as columns, the lower triangle of the rows is the upper one.
    const auto matrix = view<T, Eigen::ColMajor>(m, b, m.values.data<T>() + m.start(b));
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order(m.height());
    std::copy_n(permutation.data() + b * m.height(), m.height(), order.indices().data());
    Columns permuted;
    permuted.template selfadjointView<Eigen::Upper>() = matrix.template selfadjointView<Eigen::Upper>().twistedBy(order.inverse());
    Eigen::SimplicialLLT<Columns, Eigen::Upper, Eigen::NaturalOrdering<int>> solver;
    solver.compute(permuted);
    if (solver.info() != Eigen::Success) return invalid("Sparse Cholesky factorization failed for batch index {}. The input might not be valid.", b);
    const Columns factor = solver.matrixU();
    for (int column = 0; column < factor.outerSize(); ++column)
      for (typename Columns::InnerIterator i(factor, column); i; ++i) elements.push_back({b, column, i.row(), i.value()});
  }
  const auto sizes = m.shape.values<std::int64_t>();
  TRY(check_csr_sizes(sizes, static_cast<std::int64_t>(elements.size())));
  call.set(0, to_tensor(make_csr(std::vector<std::int64_t>(sizes.begin(), sizes.end()), elements)));
  return absl::OkStatus();
}

}  // namespace

void add_csr_cholesky(Registry& ops) {
  ops.add("SparseMatrixOrderingAMD", [](Call& call, CsrIn m) { return order_rows(call, m.matrix); });
  ops.add("SparseMatrixSparseCholesky", [](Call& call, CsrIn m, In<std::int32_t> permutation, Attr<"type", DType> type) -> Status {
    if (m->values.dtype() != *type)
      return invalid("Asked for a CSRSparseMatrix of type {} but saw dtype: {}", name_of(*type), name_of(m->values.dtype()));
    Status status;
    visit_dtype(csr_types{}, *type, [&]<class T>() { status = factorize<T>(call, m.matrix, permutation); });
    return status;
  });
}

}  // namespace troupe
