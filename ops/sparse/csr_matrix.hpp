// Sparse matrices, or batches of them, in compressed rows, as values of variants.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/kernel.hpp>

#include <memory>
#include <span>
#include <vector>

namespace troupe {

using csr_types = types<float, double, complex64, complex128>;

/// Immutable once made. Row r of matrix b is [first(b, r), first(b, r + 1)) of columns and values.
class CsrMatrix final : public VariantValue {
 public:
  std::string type_name() const override { return "tensorflow::CSRSparseMatrix"; }

  Tensor shape;    // int64: rows and columns, a batch's size before them
  Tensor batches;  // int32: where each matrix begins, and the number of all values
  Tensor rows;     // int32: for each matrix where its rows begin, from its own beginning, and its number of values
  Tensor columns;  // int32
  Tensor values;

  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t count() const { return batches.size() - 1; }
  std::int64_t height() const { return shape.data<std::int64_t>()[rank() - 2]; }
  std::int64_t width() const { return shape.data<std::int64_t>()[rank() - 1]; }
  std::int64_t size(std::int64_t b) const { return start(b + 1) - start(b); }
  std::int64_t start(std::int64_t b) const { return batches.data<std::int32_t>()[b]; }
  std::int64_t first(std::int64_t b, std::int64_t row) const { return start(b) + rows.data<std::int32_t>()[b * (height() + 1) + row]; }
  std::int64_t column(std::int64_t i) const { return columns.data<std::int32_t>()[i]; }
};

/// An element of a matrix that is being put together.
template <class T>
struct CsrElement {
  std::int64_t batch, row, column;
  T value;
};

/// Makes a matrix; the elements are sorted by batch and row, those of a row stay in their order. Sizes were checked before.
template <class T>
CsrMatrix make_csr(std::vector<std::int64_t> sizes, const std::vector<CsrElement<T>>& elements) {
  const std::int64_t count = sizes.size() == 2 ? 1 : sizes[0], height = sizes[sizes.size() - 2];
  const auto n = static_cast<std::int64_t>(elements.size());
  CsrMatrix m;
  m.shape = Tensor::vector<std::int64_t>(sizes);
  m.batches = Tensor::zeros(DType::i32, Shape{count + 1});
  m.rows = Tensor::zeros(DType::i32, Shape{count * (height + 1)});
  m.columns = Tensor(DType::i32, Shape{n});
  m.values = Tensor(dtype_of<T>::value, Shape{n});
  auto* batches = m.batches.template mutable_data<std::int32_t>();
  auto* rows = m.rows.template mutable_data<std::int32_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    const CsrElement<T>& e = elements[static_cast<std::size_t>(i)];
    ++batches[e.batch + 1];
    ++rows[e.batch * (height + 1) + e.row + 1];
    m.columns.template mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(e.column);
    m.values.template mutable_data<T>()[i] = e.value;
  }
  for (std::int64_t b = 0; b < count; ++b) {
    batches[b + 1] += batches[b];
    for (std::int64_t r = 0; r < height; ++r) rows[b * (height + 1) + r + 1] += rows[b * (height + 1) + r];
  }
  return m;
}

inline Tensor to_tensor(CsrMatrix m) { return Tensor::scalar<Variant>(Variant{std::make_shared<CsrMatrix>(std::move(m))}); }

/// Refuses sizes and numbers of elements that 32 bits do not hold.
Status check_csr_sizes(std::span<const std::int64_t> sizes, std::int64_t elements);

/// A parameter: an input that is a scalar variant with a matrix in it.
struct CsrIn {
  const CsrMatrix& matrix;
  const CsrMatrix* operator->() const { return &matrix; }
};
StatusOr<const CsrMatrix*> csr_at(const Call& call, int input);

template <>
struct Param<CsrIn> : InputParam {
  static Status check(int at, Call& call) { return csr_at(call, at).status(); }
  static CsrIn get(int at, Call& call) { return {**csr_at(call, at)}; }
};

}  // namespace troupe
