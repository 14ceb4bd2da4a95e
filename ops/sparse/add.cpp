// Sums, maxima and minima of two sparse tensors: what either has is in the result.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <complex>

namespace troupe {
namespace {

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename real_of<T>::type;

/// Narrow integers promote, so that the lowest one has a magnitude; of wide ones it has none and stays negative.
template <class T>
auto magnitude(const T& x) {
  if constexpr (is_complex<T>) return std::abs(x);
  else if constexpr (sizeof(T) < sizeof(int)) return std::abs(static_cast<int>(x));
  else if constexpr (std::is_integral_v<T>) return x < 0 ? wrap_neg(x) : x;
  else return std::abs(x);
}

Status check_same_shape(const SparseIn& a, const SparseIn& b) {
  if (a.shape.size() != b.shape.size())
    return invalid("Operands do not have the same ranks; got shapes: {} and {}", summarize(a.shape, 10), summarize(b.shape, 10));
  for (std::size_t d = 0; d < a.sizes().size(); ++d)
    if (a.sizes()[d] != b.sizes()[d]) return invalid("Operands' shapes do not match: got {} and {} for dimension {}", a.sizes()[d], b.sizes()[d], d);
  return absl::OkStatus();
}

Status check_added(const SparseIn& a, const SparseIn& b) {
  if (a.indices.rank() != 2 || b.indices.rank() != 2)
    return invalid("Input indices should be matrices but received shapes: {} and {}", a.indices.shape(), b.indices.shape());
  if (a.rank() != b.rank()) return invalid("Input indices must have the same dimension, got {} and {}", a.rank(), b.rank());
  if (a.values.rank() != 1 || b.values.rank() != 1)
    return invalid("Input values should be vectors but received shapes: {} and {}", a.values.shape(), b.values.shape());
  if (a.values.size() != a.rows() || b.values.size() != b.rows())
    return invalid("Expected {} and {} non-empty input values, got {} and {}", a.rows(), b.rows(), a.values.size(), b.values.size());
  if (a.shape.rank() != 1 || b.shape.rank() != 1)
    return invalid("Input shapes should be a vector but received shapes {} and {}", a.shape.shape(), b.shape.shape());
  if (a.shape.size() != a.rank())
    return invalid("Second dimension of a_indices and length of a_shape must match, got {} and {}", a.rank(), a.shape.size());
  return check_same_shape(a, b);
}

/// Goes through two sorted lists of rows at once: f(in a or -1, in b or -1).
template <class F>
void for_each_of_both(const SparseIn& a, const SparseIn& b, F&& f) {
  std::int64_t i = 0, j = 0;
  while (i < a.rows() || j < b.rows()) {
    const int order = i == a.rows() ? 1 : j == b.rows() ? -1 : compare_rows(a.row(i), b.row(j));
    f(order <= 0 ? i : -1, order >= 0 ? j : -1);
    i += order <= 0;
    j += order >= 0;
  }
}

/// `combine` says what the value of a row is, or that there is none.
template <class T, class F>
void merge(Call& call, const SparseIn& a, const SparseIn& b, F&& combine) {
  std::vector<std::int64_t> indices;
  std::vector<T> values;
  for_each_of_both(a, b, [&](std::int64_t i, std::int64_t j) {
    T value{};
    if (!combine(i < 0 ? nullptr : a.values.data<T>() + i, j < 0 ? nullptr : b.values.data<T>() + j, value)) return;
    const auto row = i >= 0 ? a.row(i) : b.row(j);
    indices.insert(indices.end(), row.begin(), row.end());
    values.push_back(value);
  });
  call.set(0, Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size()), a.rank()}, indices));
  call.set(1, Tensor::vector<T>(values));
}

template <class T>
Status add(Call& call, const SparseIn& a, const SparseIn& b, const Tensor& threshold) {
  TRY(check_added(a, b));
  if (threshold.rank() != 0) return invalid("The magnitude threshold must be a scalar: got shape {}", threshold.shape());
  Real<T> least{};
  visit_dtype(reals{}, threshold.dtype(), [&]<class U>() { least = static_cast<Real<T>>(threshold.item<U>()); });
  merge<T>(call, a, b, [&](const T* x, const T* y, T& value) {
    value = x && y ? wrap_add(*x, *y) : x ? *x : *y;
    return !(x && y) || least <= magnitude(value);
  });
  call.set(2, a.shape);
  return absl::OkStatus();
}

template <class T, class F>
Status extreme(Call& call, const SparseIn& a, const SparseIn& b, F&& better) {
  TRY(check_together(a));
  TRY(check_together(b));
  TRY(check_same_shape(a, b));
  merge<T>(call, a, b, [&](const T* x, const T* y, T& value) {
    value = better(x ? *x : T(0), y ? *y : T(0));
    return true;
  });
  return absl::OkStatus();
}

template <class T>
Status add_gradient(Call& call, const In<T>& gradient, const In<std::int64_t>& a, const In<std::int64_t>& b, const In<std::int64_t>& sum) {
  if (a.dims() != 2 || b.dims() != 2 || sum.dims() != 2)
    return invalid("Input indices should be matrices but received shapes: {} and {} and {}", a.shape(), b.shape(), sum.shape());
  if (gradient.dims() != 1) return invalid("Input backprop_val_grad should be a vector but received shape: {}", gradient.shape());
  if (a.dim(1) != b.dim(1) || b.dim(1) != sum.dim(1))
    return invalid("The densified operands should have the same ndims; for A, B, sum got: {}{}{}", a.dim(1), b.dim(1), sum.dim(1));
  if (gradient.size() != sum.dim(0))
    return invalid("# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got {} and {}", gradient.size(),
                   sum.dim(0));
  const auto rank = static_cast<std::size_t>(a.dim(1));
  const auto row = [rank](const In<std::int64_t>& m, std::int64_t i) { return std::span(m.data() + i * static_cast<std::int64_t>(rank), rank); };
  int output = 0;
  for (const In<std::int64_t>& side : {a, b}) {
    T* out = call.alloc<T>(output++, Shape{side.dim(0)});
    std::fill_n(out, side.dim(0), T(0));
    for (std::int64_t i = 0, k = 0; i < side.dim(0) && k < sum.dim(0);) {
      const int order = compare_rows(row(side, i), row(sum, k));
      if (order == 0) out[i] = gradient[k];
      i += order <= 0;
      k += order >= 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace

void add_sparse_add(Registry& ops) {
  using added = types<float, double, std::int64_t, std::int32_t, std::int16_t, std::int8_t, complex64, complex128>;
  ops.add("SparseAdd", added{},
          []<class T>(Call& call, In<std::int64_t> ai, In<T> av, In<std::int64_t> as, In<std::int64_t> bi, In<T> bv, In<std::int64_t> bs, Any least) {
            return add<T>(call, {ai.tensor, av.tensor, as.tensor}, {bi.tensor, bv.tensor, bs.tensor}, least.tensor);
          });
  ops.add("SparseAddGrad", added{}, []<class T>(Call& call, In<T> gradient, In<std::int64_t> a, In<std::int64_t> b, In<std::int64_t> sum) {
    return add_gradient(call, gradient, a, b, sum);
  });
  ops.add("SparseSparseMaximum", reals{},
          []<class T>(Call& call, In<std::int64_t> ai, In<T> av, In<std::int64_t> as, In<std::int64_t> bi, In<T> bv, In<std::int64_t> bs) {
            return extreme<T>(call, {ai.tensor, av.tensor, as.tensor}, {bi.tensor, bv.tensor, bs.tensor}, [](T x, T y) { return x < y ? y : x; });
          });
  ops.add("SparseSparseMinimum", reals{},
          []<class T>(Call& call, In<std::int64_t> ai, In<T> av, In<std::int64_t> as, In<std::int64_t> bi, In<T> bv, In<std::int64_t> bs) {
            return extreme<T>(call, {ai.tensor, av.tensor, as.tensor}, {bi.tensor, bv.tensor, bs.tensor}, [](T x, T y) { return y < x ? y : x; });
          });
}

}  // namespace troupe
