// Products and transposes of matrices in compressed rows.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/containers/variant_arithmetic.hpp>
#include <troupe/ops/sparse/csr_matrix.hpp>

#include <algorithm>
#include <map>

namespace troupe {
namespace {

/// How an operand is turned before it is multiplied.
struct Turn {
  bool transpose = false, conjugate = false;
};

StatusOr<Turn> read_turn(bool transpose, bool adjoint, const char* name) {
  if (transpose && adjoint) return invalid("Only one of adjoint_{} and transpose_{} may be true.", name, name);
  return Turn{transpose || adjoint, adjoint};
}

template <class T>
T conjugate_if(bool yes, const T& x) {
  if constexpr (is_complex<T>) return yes ? std::conj(x) : x;
  else return x;
}

template <class T>
CsrMatrix turned(const CsrMatrix& m, Turn turn) {
  std::vector<CsrElement<T>> elements;
  elements.reserve(static_cast<std::size_t>(m.values.size()));
  for (std::int64_t b = 0; b < m.count(); ++b)
    for (std::int64_t row = 0; row < m.height(); ++row)
      for (std::int64_t i = m.first(b, row); i < m.first(b, row + 1); ++i) {
        const T value = conjugate_if(turn.conjugate, m.values.data<T>()[i]);
        if (turn.transpose) elements.push_back({b, m.column(i), row, value});
        else elements.push_back({b, row, m.column(i), value});
      }
  if (turn.transpose)
    std::stable_sort(elements.begin(), elements.end(),
                     [](const auto& a, const auto& b) { return a.batch != b.batch ? a.batch < b.batch : a.row < b.row; });
  std::vector<std::int64_t> sizes(m.shape.values<std::int64_t>().begin(), m.shape.values<std::int64_t>().end());
  if (turn.transpose) std::swap(sizes[sizes.size() - 2], sizes[sizes.size() - 1]);
  return make_csr(std::move(sizes), elements);
}

template <class T>
Status transpose(Call& call, const CsrMatrix& m, bool conjugate) {
  std::vector<std::int64_t> sizes(m.shape.values<std::int64_t>().begin(), m.shape.values<std::int64_t>().end());
  std::swap(sizes[sizes.size() - 2], sizes[sizes.size() - 1]);
  TRY(check_csr_sizes(sizes, m.values.size()));
  call.set(0, to_tensor(turned<T>(m, {true, conjugate})));
  return absl::OkStatus();
}

struct DenseProduct {
  Turn a, b;
  bool transpose, conjugate;  // of the result
};

Status check_dense(const CsrMatrix& a, const Tensor& b, const DenseProduct& p) {
  const int rank = a.rank();
  if (a.values.dtype() != b.dtype())
    return invalid("Input types don't match.  a.dtype == {} vs. b.dtype == {}", name_of(a.values.dtype()), name_of(b.dtype()));
  if (rank != b.rank()) return invalid("Ranks of a and b must match, saw: {} vs. {}.", rank, b.rank());
  const std::int64_t count = rank == 2 ? 1 : b.dim(0);
  if (a.count() != count) return invalid("Batch sizes of a and b must match, saw: {} vs. {}.", a.count(), count);
  const std::int64_t left = p.a.transpose ? a.height() : a.width(), right = b.dim(p.b.transpose ? rank - 1 : rank - 2);
  if (left == right) return absl::OkStatus();
  TRY_ASSIGN(const Shape shape, make_shape(a.shape));
  return invalid("Inner product dimensions of A and B do not agree.  Shapes are: {} vs. {}", shape, b.shape());
}

template <class T>
Status multiply_dense(Call& call, const CsrMatrix& a, const In<T>& b, const DenseProduct& p) {
  TRY(check_dense(a, b.tensor, p));
  const int rank = a.rank();
  const std::int64_t rows = p.a.transpose ? a.width() : a.height(), inner = p.a.transpose ? a.height() : a.width();
  const std::int64_t columns = b.dim(p.b.transpose ? rank - 2 : rank - 1);
  std::vector<std::int64_t> dims;
  if (rank == 3) dims.push_back(a.count());
  dims.push_back(p.transpose ? columns : rows);
  dims.push_back(p.transpose ? rows : columns);
  TRY_ASSIGN(const Shape shape, make_shape(dims));
  T* out = call.alloc<T>(0, shape);
  std::fill_n(out, shape.elements(), T(0));
  const std::int64_t out_row = p.transpose ? 1 : columns, out_column = p.transpose ? rows : 1;
  const std::int64_t b_row = p.b.transpose ? 1 : columns, b_column = p.b.transpose ? inner : 1;
  for (std::int64_t k = 0; k < a.count(); ++k) {
    const T* from = b.data() + k * inner * columns;
    T* to = out + k * rows * columns;
    for (std::int64_t row = 0; row < a.height(); ++row)
      for (std::int64_t i = a.first(k, row); i < a.first(k, row + 1); ++i) {
        const T x = conjugate_if(p.a.conjugate, a.values.data<T>()[i]);
        const std::int64_t r = p.a.transpose ? a.column(i) : row, c = p.a.transpose ? row : a.column(i);
        for (std::int64_t j = 0; j < columns; ++j)
          to[r * out_row + j * out_column] += x * conjugate_if(p.b.conjugate, from[c * b_row + j * b_column]);
      }
  }
  if (p.conjugate) std::transform(out, out + shape.elements(), out, [](const T& x) { return conjugate_if(true, x); });
  return absl::OkStatus();
}

Status check_sparse(const CsrMatrix& a, const CsrMatrix& b, Turn turn_a, Turn turn_b) {
  if (a.count() != b.count()) return invalid("Batch sizes of A and B do not agree.  Batch sizes are: {} vs. {}", a.count(), b.count());
  TRY_ASSIGN(Shape left, make_shape(a.shape));
  TRY_ASSIGN(Shape right, make_shape(b.shape));
  if (left.rank() != right.rank()) return invalid("Ranks of a and b must match, saw: {} vs. {}.", left.rank(), right.rank());
  const auto swap_last = [](Shape& s) {
    const std::int64_t last = s.dim(s.rank() - 1);
    s.set_dim(s.rank() - 1, s.dim(s.rank() - 2));
    s.set_dim(s.rank() - 2, last);
  };
  if (turn_a.transpose) swap_last(left);
  if (turn_b.transpose) swap_last(right);
  if (left.dim(left.rank() - 1) != right.dim(right.rank() - 2))
    return invalid("Inner product dimensions of A and B do not agree.  Shapes are: {} vs. {}", left, right);
  return absl::OkStatus();
}

template <class T>
Status multiply_sparse(Call& call, const CsrMatrix& a_in, const CsrMatrix& b_in, Turn turn_a, Turn turn_b) {
  TRY(check_sparse(a_in, b_in, turn_a, turn_b));
  const CsrMatrix a = turned<T>(a_in, turn_a), b = turned<T>(b_in, turn_b);
  std::vector<std::int64_t> sizes{a.height(), b.width()};
  if (a.rank() == 3) sizes.insert(sizes.begin(), a.count());
  std::vector<CsrElement<T>> elements;
  std::map<std::int64_t, T> row_sums;
  for (std::int64_t k = 0; k < a.count(); ++k)
    for (std::int64_t row = 0; row < a.height(); ++row) {
      row_sums.clear();
      for (std::int64_t i = a.first(k, row); i < a.first(k, row + 1); ++i)
        for (std::int64_t j = b.first(k, a.column(i)); j < b.first(k, a.column(i) + 1); ++j)
          row_sums[b.column(j)] += a.values.data<T>()[i] * b.values.data<T>()[j];
      for (const auto& [column, sum] : row_sums) elements.push_back({k, row, column, sum});
    }
  TRY(check_csr_sizes(sizes, static_cast<std::int64_t>(elements.size())));
  call.set(0, to_tensor(make_csr(std::move(sizes), elements)));
  return absl::OkStatus();
}

VariantResult conjugate_of(const VariantValue& value) {
  const auto& m = static_cast<const CsrMatrix&>(value);
  auto result = std::make_shared<CsrMatrix>(m);
  visit_dtype(complexes{}, m.values.dtype(), [&]<class T>() {
    result->values = m.values.copy();
    for (T& x : result->values.template mutable_values<T>()) x = std::conj(x);
  });
  return result;
}

Status check_type(const CsrMatrix& m, DType type, const char* name) {
  if (m.values.dtype() == type) return absl::OkStatus();
  return invalid("dtype of {} is not equal to 'type': {} vs. {}", name, name_of(m.values.dtype()), name_of(type));
}

}  // namespace

void add_csr_products(Registry& ops) {
  let_compute("tensorflow::CSRSparseMatrix", {.conjugate = conjugate_of});
  using TransposeA = Attr<"transpose_a", bool>;
  using TransposeB = Attr<"transpose_b", bool>;
  using AdjointA = Attr<"adjoint_a", bool>;
  using AdjointB = Attr<"adjoint_b", bool>;
  ops.add("SparseMatrixMatMul", csr_types{},
          []<class T>(Call& call, CsrIn a, In<T> b, TransposeA ta, TransposeB tb, AdjointA aa, AdjointB ab, Attr<"transpose_output", bool> transpose,
                      Attr<"conjugate_output", bool> conjugate) -> Status {
            TRY_ASSIGN(const Turn turn_a, read_turn(ta, aa, "a"));
            TRY_ASSIGN(const Turn turn_b, read_turn(tb, ab, "b"));
            return multiply_dense(call, a.matrix, b, {turn_a, turn_b, transpose, conjugate});
          });
  ops.add("SparseMatrixSparseMatMul",
          [](Call& call, CsrIn a, CsrIn b, Attr<"type", DType> type, TransposeA ta, TransposeB tb, AdjointA aa, AdjointB ab) -> Status {
            TRY_ASSIGN(const Turn turn_a, read_turn(ta, aa, "a"));
            TRY_ASSIGN(const Turn turn_b, read_turn(tb, ab, "b"));
            TRY(check_type(a.matrix, *type, "a"));
            TRY(check_type(b.matrix, *type, "b"));
            Status status;
            visit_dtype(csr_types{}, *type, [&]<class T>() { status = multiply_sparse<T>(call, a.matrix, b.matrix, turn_a, turn_b); });
            return status;
          });
  ops.add("SparseMatrixTranspose", [](Call& call, CsrIn m, Attr<"conjugate", bool> conjugate, Attr<"type", DType> type) -> Status {
    TRY(check_type(m.matrix, *type, "input"));
    Status status;
    visit_dtype(csr_types{}, *type, [&]<class T>() { status = transpose<T>(call, m.matrix, conjugate); });
    return status;
  });
  ops.cost({"SparseMatrixMatMul", "SparseMatrixSparseMatMul"}, 50);
}

}  // namespace troupe
