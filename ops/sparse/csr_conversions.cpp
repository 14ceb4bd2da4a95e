// Matrices in compressed rows from and to sparse and dense tensors, and their parts.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/resources/variant_tensors.hpp>
#include <troupe/ops/sparse/csr_matrix.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

namespace troupe {

constexpr std::int64_t most_int32 = std::numeric_limits<std::int32_t>::max();

StatusOr<const CsrMatrix*> csr_at(const Call& call, int input) {
  const Tensor& t = call.in(input);
  if (t.dtype() != DType::variant) return detail::wrong_dtype(call, input, DType::variant);
  if (t.rank() != 0) return invalid("Invalid input matrix: Shape must be rank 0 but is rank {}", t.rank());
  const auto* matrix = dynamic_cast<const CsrMatrix*>(t.item<Variant>().value.get());
  if (!matrix) return invalid("Could not retrieve Variant input {}", input);
  return matrix;
}

Status check_csr_sizes(std::span<const std::int64_t> sizes, std::int64_t elements) {
  TRY(make_shape(sizes).status());
  const std::int64_t count = sizes.size() == 2 ? 1 : sizes[0], height = sizes[sizes.size() - 2];
  if (count >= most_int32) return invalid("dense_shape batch_size must be < Int32Max, but the input value is {}", count);
  if (elements > most_int32) return invalid("values number of elements must be <= Int32Max, but the input value is {}", elements);
  std::int64_t rows = 0;
  if (height == std::numeric_limits<std::int64_t>::max() || __builtin_mul_overflow(height + 1, count, &rows) || rows > most_int32)
    return invalid("The csr row index size, computed based on the dense_shape, must be <= Int32Max, but is too large. Current value is {}",
                   static_cast<std::int64_t>(static_cast<std::uint64_t>(height + 1) * static_cast<std::uint64_t>(count)));
  return absl::OkStatus();
}

namespace {

/// TensorFlow's metadata: whether it was validated, and the type of the values.
struct CsrMetadata {
  bool validated = true;
  std::int32_t dtype = 0;
};

void encode_csr(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  const auto& m = static_cast<const CsrMatrix&>(value);
  char bytes[sizeof(CsrMetadata)] = {1};
  const auto dtype = static_cast<std::int32_t>(m.values.dtype());
  std::memcpy(bytes + offsetof(CsrMetadata, dtype), &dtype, sizeof dtype);
  proto->set_metadata(bytes, sizeof bytes);
  put_tensors(std::vector<Tensor>{m.shape, m.batches, m.rows, m.columns, m.values}, proto);
}

/// Whether what came over the wire may be walked through.
bool consistent(const CsrMatrix& m) {
  if (m.shape.dtype() != DType::i64 || m.shape.rank() != 1 || m.rank() < 2 || m.rank() > 3) return false;
  if (!check_csr_sizes(m.shape.values<std::int64_t>(), m.values.size()).ok()) return false;
  for (const Tensor* t : {&m.batches, &m.rows, &m.columns})
    if (t->dtype() != DType::i32 || t->rank() != 1) return false;
  const std::int64_t count = m.rank() == 2 ? 1 : m.shape.data<std::int64_t>()[0];
  if (m.values.rank() != 1 || m.batches.size() != count + 1 || m.rows.size() != count * (m.height() + 1) || m.columns.size() != m.values.size())
    return false;
  const auto rising = [](std::span<const std::int32_t> x, std::int64_t last) {
    return x.front() == 0 && x.back() == last && std::ranges::is_sorted(x);
  };
  if (!rising(m.batches.values<std::int32_t>(), m.values.size())) return false;
  const auto height = static_cast<std::size_t>(m.height());
  for (std::int64_t b = 0; b < count; ++b)
    if (!rising(m.rows.values<std::int32_t>().subspan(static_cast<std::size_t>(b) * (height + 1), height + 1), m.size(b))) return false;
  return std::ranges::all_of(m.columns.values<std::int32_t>(), [&](std::int32_t c) { return c >= 0 && c < m.width(); });
}

StatusOr<std::shared_ptr<const VariantValue>> decode_csr(const wire::VariantTensorDataProto& proto) {
  TRY_ASSIGN(const std::vector<Tensor> tensors, get_tensors(proto));
  if (tensors.size() != 5) return invalid("A sparse matrix has {} tensors instead of 5", tensors.size());
  auto m = std::make_shared<CsrMatrix>();
  m->shape = tensors[0];
  m->batches = tensors[1];
  m->rows = tensors[2];
  m->columns = tensors[3];
  m->values = tensors[4];
  if (!visit_dtype(csr_types{}, m->values.dtype(), []<class T>() {}) || !consistent(*m)) return invalid("A sparse matrix contradicts itself");
  return m;
}

template <class T, class Value>
CsrMatrix from_rows(const Tensor& indices, std::vector<std::int64_t> sizes, Value&& value) {
  const std::int64_t rank = indices.dim(1);
  std::vector<CsrElement<T>> elements;
  elements.reserve(static_cast<std::size_t>(indices.dim(0)));
  const auto* at = indices.data<std::int64_t>();
  for (std::int64_t i = 0; i < indices.dim(0); ++i, at += rank) elements.push_back({rank == 2 ? 0 : at[0], at[rank - 2], at[rank - 1], value(i)});
  std::stable_sort(elements.begin(), elements.end(),
                   [](const auto& a, const auto& b) { return a.batch != b.batch ? a.batch < b.batch : a.row < b.row; });
  return make_csr(std::move(sizes), elements);
}

template <class T>
Status from_sparse(Call& call, const SparseIn& s, const In<T>& values) {
  TRY(check_together(s));
  TRY(check_bounds(s));
  const std::int64_t rank = s.shape.size();
  if (rank != 2 && rank != 3) return invalid("SparseTensor must have rank 2 or 3; but indices has rank: {}", rank);
  TRY(check_csr_sizes(s.sizes(), values.size()));
  call.set(0, to_tensor(from_rows<T>(s.indices, {s.sizes().begin(), s.sizes().end()}, [&](std::int64_t i) { return values[i]; })));
  return absl::OkStatus();
}

template <class T>
Status from_dense(Call& call, const In<T>& params, const In<std::int64_t>& indices) {
  const int rank = params.dims();
  if (rank != 2 && rank != 3) return invalid("params must have rank == 2 or 3; but saw shape: {}", params.shape());
  if (indices.dims() != 2) return invalid("indices must be a matrix, but saw shape: {}", indices.shape());
  if (indices.dim(1) != rank) return invalid("indices.shape[1] must be equal to the rank of params, but saw: {} vs. {}", indices.dim(1), rank);
  TRY(check_csr_sizes(params.shape().dims(), indices.dim(0)));
  const Dims steps = steps_of(params.shape());
  std::vector<T> values;
  for (std::int64_t i = 0; i < indices.dim(0); ++i) {
    std::int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      const std::int64_t x = indices[i * rank + d];
      if (x < 0 || x >= params.dim(d))
        return invalid("indices[{}] = [{}] does not index into param shape {}, node name: {}", i,
                       fmt::join(std::span(indices.data() + i * rank, static_cast<std::size_t>(rank)), ", "), params.shape(), call.node().name);
      at += x * steps[static_cast<std::size_t>(d)];
    }
    values.push_back(params[at]);
  }
  call.set(0, to_tensor(from_rows<T>(indices.tensor, {params.shape().begin(), params.shape().end()},
                                     [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; })));
  return absl::OkStatus();
}

/// Calls f(batch, row, place) for each element.
template <class F>
void for_each_element(const CsrMatrix& m, F&& f) {
  for (std::int64_t b = 0; b < m.count(); ++b)
    for (std::int64_t row = 0; row < m.height(); ++row)
      for (std::int64_t i = m.first(b, row); i < m.first(b, row + 1); ++i) f(b, row, i);
}

void to_sparse(Call& call, const CsrMatrix& m) {
  std::int64_t* out = call.alloc<std::int64_t>(0, Shape{m.values.size(), m.rank()});
  for_each_element(m, [&](std::int64_t b, std::int64_t row, std::int64_t i) {
    if (m.rank() == 3) *out++ = b;
    *out++ = row;
    *out++ = m.column(i);
  });
  call.set(1, m.values);
  call.set(2, m.shape);
}

template <class T>
Status to_dense(Call& call, const CsrMatrix& m) {
  TRY_ASSIGN(const Shape shape, make_shape(m.shape));
  T* out = call.alloc<T>(0, shape);
  std::fill_n(out, shape.elements(), T(0));
  for_each_element(
      m, [&](std::int64_t b, std::int64_t row, std::int64_t i) { out[(b * m.height() + row) * m.width() + m.column(i)] = m.values.data<T>()[i]; });
  return absl::OkStatus();
}

Status components(Call& call, const CsrMatrix& m, const In<std::int32_t>& index) {
  if (index.dims() != 0) return invalid("index should be a scalar, but saw: {}", describe(index.tensor));
  const std::int64_t b = index[0];
  if (b < 0 || b >= m.count()) return invalid("index ({}) not in [0, {})", b, m.count());
  call.set(0, m.rows.rows(b * (m.height() + 1), (b + 1) * (m.height() + 1)).copy());
  call.set(1, m.columns.rows(m.start(b), m.start(b + 1)).copy());
  call.set(2, m.values.rows(m.start(b), m.start(b + 1)).copy());
  return absl::OkStatus();
}

}  // namespace

void add_csr_conversions(Registry& ops) {
  register_variant_codec("tensorflow::CSRSparseMatrix", encode_csr, decode_csr);
  ops.add("SparseTensorToCSRSparseMatrix", csr_types{}, []<class T>(Call& call, In<std::int64_t> indices, In<T> values, In<std::int64_t> shape) {
    return from_sparse(call, {indices.tensor, values.tensor, shape.tensor}, values);
  });
  ops.add("DenseToCSRSparseMatrix", csr_types{},
          []<class T>(Call& call, In<T> params, In<std::int64_t> indices) { return from_dense(call, params, indices); });
  ops.add("CSRSparseMatrixToSparseTensor", [](Call& call, CsrIn m, Attr<"type", DType> type) -> Status {
    if (m->values.dtype() != *type)
      return invalid("Expected a CSRSparseMatrix of type {} but saw type: {}", name_of(*type), name_of(m->values.dtype()));
    to_sparse(call, m.matrix);
    return absl::OkStatus();
  });
  ops.add("CSRSparseMatrixToDense", [](Call& call, CsrIn m, Attr<"type", DType> type) -> Status {
    if (m->values.dtype() != *type)
      return invalid("Asked for a CSRSparseMatrix of type {} but saw dtype: {}", name_of(*type), name_of(m->values.dtype()));
    Status status;
    visit_dtype(csr_types{}, *type, [&]<class T>() { status = to_dense<T>(call, m.matrix); });
    return status;
  });
  ops.add("CSRSparseMatrixComponents", [](Call& call, CsrIn m, In<std::int32_t> index, Attr<"type", DType> type) -> Status {
    if (m->values.dtype() != *type) return invalid("dtype of input is not equal to 'type': {} vs. {}", name_of(m->values.dtype()), name_of(*type));
    return components(call, m.matrix, index);
  });
  ops.add("SparseMatrixNNZ", [](Call& call, CsrIn m) {
    std::int32_t* out = call.alloc<std::int32_t>(0, m->rank() == 2 ? Shape{} : Shape{m->count()});
    for (std::int64_t b = 0; b < m->count(); ++b) out[b] = static_cast<std::int32_t>(m->size(b));
  });
}

}  // namespace troupe
