// A sparse tensor with a dense one: sums, element-wise arithmetic and products of matrices.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/nn/wide.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <complex>

namespace troupe {
namespace {

template <class I>
Status check_dense_add(const In<I>& indices, const Tensor& values, const In<I>& shape, const Tensor& dense) {
  if (indices.dims() != 2) return invalid("Input a_indices should be a matrix but received shape: {}", indices.shape());
  if (values.rank() != 1 || shape.dims() != 1)
    return invalid("Inputs a_values and a_shape should be vectors but received shapes: {} and {}", values.shape(), shape.shape());
  const std::int64_t rows = indices.dim(0), rank = indices.dim(1);
  if (values.dim(0) != rows) return invalid("Dimensions {} and {} are not compatible", rows, values.dim(0));
  if (shape.dim(0) != rank) return invalid("Dimensions {} and {} are not compatible", rank, shape.dim(0));
  if (shape.size() != dense.rank()) return invalid("Two operands have different ranks; received: {} and {}", shape.size(), dense.rank());
  for (int d = 0; d < dense.rank(); ++d)
    if (static_cast<std::int64_t>(shape[d]) != dense.dim(d))
      return invalid("Dimension {} does not equal (no broadcasting is supported): sparse side {} vs dense side {}", d, shape[d], dense.dim(d));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t d = 0; d < rank; ++d)
      if (const I at = indices[i * rank + d]; at < 0 || at >= shape[d])
        return invalid("Sparse tensor has an invalid index on dimension {}: a_indices({},{}) = {}, dense tensor shape: {}", d, i, d, at,
                       fmt::join(shape.values(), " "));
  return absl::OkStatus();
}

template <class T, class I>
Status add_dense(Call& call, const In<I>& indices, const In<T>& values, const In<I>& shape, const In<T>& dense) {
  TRY(check_dense_add(indices, values.tensor, shape, dense.tensor));
  const std::int64_t rank = indices.dim(1);
  if (rank < 1 || rank > 5) return invalid("Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: {}", rank);
  const Dims steps = steps_of(dense.shape());
  Tensor result = dense.tensor.copy();
  T* out = result.mutable_data<T>();
  const I* index = indices.data();
  for (std::int64_t i = 0; i < indices.dim(0); ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < steps.size(); ++d) at += static_cast<std::int64_t>(*index++) * steps[d];
    out[at] = wrap_add(out[at], values[i]);
  }
  call.set(0, std::move(result));
  return absl::OkStatus();
}

/// Sizes as they are compared: at least one dimension.
Dims at_least_one(std::span<const std::int64_t> dims) {
  Dims result(dims.begin(), dims.end());
  if (result.empty()) result.push_back(1);
  return result;
}

Status check_cwise(const SparseIn& s, const Tensor& dense) {
  if (s.indices.rank() != 2) return invalid("Input sp_indices should be a matrix but received shape: {}", s.indices.shape());
  if (s.values.rank() != 1 || s.shape.rank() != 1)
    return invalid("Inputs sp_values and sp_shape should be vectors but received shapes: {} and {}", s.values.shape(), s.shape.shape());
  if (s.values.dim(0) != s.rows()) return invalid("The first dimension of values and indices should match. ({} vs. {})", s.values.dim(0), s.rows());
  if (s.shape.dim(0) != s.rank())
    return invalid("Number of dimensions must match second dimension of indices. Got {} dimensions, indices shape: {}", s.shape.dim(0),
                   s.indices.shape());
  if (s.shape.size() == 0) return invalid("The shape argument requires at least one element.");
  TRY_ASSIGN(const Shape shape, Shape::checked(s.sizes()));
  const Dims left = at_least_one(s.sizes()), right = at_least_one(dense.shape().dims());
  bool fits = left.size() >= right.size() && Broadcast::of(shape, dense.shape()).has_value();
  for (std::size_t i = 1; fits && i <= right.size(); ++i) fits = left[left.size() - i] >= right[right.size() - i];
  if (!fits)
    return invalid("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: [{}] vs. [{}]",
                   fmt::join(left.begin(), left.end(), ","), fmt::join(right.begin(), right.end(), ","));
  if (shape.rank() > 5) return invalid("Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: {}", shape.rank());
  return absl::OkStatus();
}

/// f(sparse value, dense value, result) for each value; false stops.
template <class T, class F>
Status cwise(Call& call, const SparseIn& s, const In<T>& dense, F&& f) {
  TRY(check_cwise(s, dense.tensor));
  const Dims steps = steps_of(dense.shape());
  const std::int64_t rank = s.rank(), skipped = rank - dense.dims();
  T* out = call.alloc<T>(0, s.values.shape());
  for (std::int64_t i = 0; i < s.rows(); ++i) {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t x = s.row(i)[static_cast<std::size_t>(d)];
      if (x < 0 || x >= s.sizes()[static_cast<std::size_t>(d)])
        return invalid("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
      if (d >= skipped && dense.dim(static_cast<int>(d - skipped)) > 1) at += x * steps[static_cast<std::size_t>(d - skipped)];
    }
    TRY(f(s.values.data<T>()[i], dense[at], out[i]));
  }
  return absl::OkStatus();
}

template <class T>
Status divide(const T& x, const T& y, T& result) {
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return invalid("Integer division by zero");
    if constexpr (std::is_signed_v<T>)
      if (y == T(-1)) {
        result = wrap_neg(x);
        return absl::OkStatus();
      }
  }
  result = static_cast<T>(x / y);
  return absl::OkStatus();
}

template <class T>
T conjugate_if(bool yes, const T& x) {
  if constexpr (is_complex<T>) return yes ? std::conj(x) : x;
  else return x;
}

Status check_product(const Tensor& indices, const Tensor& values, const Tensor& shape, const Tensor& b, bool adjoint_a, bool adjoint_b) {
  if (b.rank() != 2) return invalid("Tensor 'b' is not a matrix");
  if (shape.rank() != 1) return invalid("Tensor 'a_shape' is not a vector");
  if (shape.size() != 2) return invalid("Tensor 'a_shape' must have 2 elements");
  if (values.rank() != 1) return invalid("Tensor 'a_values' is not a vector");
  if (indices.rank() != 2) return invalid("Tensor 'a_indices' is not a matrix");
  if (indices.dim(0) != values.size()) return invalid("Number of rows of a_indices does not match number of entries in a_values");
  if (indices.dim(1) != shape.size()) return invalid("Number of columns of a_indices does not match number of entries in a_shape");
  const auto* a = shape.data<std::int64_t>();
  const std::int64_t left = a[adjoint_a ? 0 : 1], right = b.dim(adjoint_b ? 1 : 0);
  if (left != right)
    return invalid(
        "Cannot multiply A and B because inner dimension does not match: {} vs. {}.  Did you forget a transpose?  Dimensions of A: [{}, {}).  "
        "Dimensions of B: {}",
        left, right, a[0], a[1], b.shape());
  return absl::OkStatus();
}

/// The adjoint, row by row: rows of it are what a product goes through.
template <class T>
std::vector<T> adjoint_of(const In<T>& b) {
  std::vector<T> result(static_cast<std::size_t>(b.size()));
  for (std::int64_t r = 0; r < b.dim(0); ++r)
    for (std::int64_t c = 0; c < b.dim(1); ++c) result[static_cast<std::size_t>(c * b.dim(0) + r)] = conjugate_if(true, b[r * b.dim(1) + c]);
  return result;
}

template <class T, class I>
Status product(Call& call, const In<I>& indices, const In<T>& values, const Tensor& shape, const In<T>& b, bool adjoint_a, bool adjoint_b) {
  TRY(check_product(indices.tensor, values.tensor, shape, b.tensor, adjoint_a, adjoint_b));
  const std::int64_t inner = b.dim(adjoint_b ? 1 : 0);
  const std::int64_t sizes[] = {shape.data<std::int64_t>()[adjoint_a ? 1 : 0], b.dim(adjoint_b ? 0 : 1)};
  TRY_ASSIGN(const Shape whole, Shape::checked(sizes));
  const std::int64_t rows = whole.dim(0), columns = whole.dim(1);
  T* out = call.alloc<T>(0, whole);
  std::fill_n(out, whole.elements(), T(0));
  if (whole.elements() == 0 || values.size() == 0 || b.size() == 0) return absl::OkStatus();
  std::vector<Wide<T>> sums;
  if constexpr (!std::is_same_v<Wide<T>, T>) sums.assign(static_cast<std::size_t>(whole.elements()), 0.0F);
  Wide<T>* to = nullptr;
  if constexpr (std::is_same_v<Wide<T>, T>) to = out;
  else to = sums.data();
  const std::vector<T> turned = adjoint_b ? adjoint_of(b) : std::vector<T>();
  const T* right = adjoint_b ? turned.data() : b.data();
  const I* index = indices.data();
  for (std::int64_t i = 0, count = values.size(); i < count; ++i) {
    const std::int64_t m = index[i * 2 + (adjoint_a ? 1 : 0)], k = index[i * 2 + (adjoint_a ? 0 : 1)];
    if (k < 0 || k >= inner) return invalid("k ({}) from index[{},{}] out of bounds (>={})", k, i, adjoint_a ? 0 : 1, inner);
    if (m < 0 || m >= rows) return invalid("m ({}) from index[{},{}] out of bounds (>={})", m, i, adjoint_a ? 1 : 0, rows);
    const auto a = static_cast<Wide<T>>(conjugate_if(adjoint_a, values[i]));
    const T* from = right + k * columns;
    Wide<T>* sum = to + m * columns;
#pragma GCC ivdep
    for (std::int64_t n = 0; n < columns; ++n) sum[n] = wrap_add(sum[n], wrap_mul(a, static_cast<Wide<T>>(from[n])));
  }
  if constexpr (!std::is_same_v<Wide<T>, T>) std::transform(sums.begin(), sums.end(), out, [](Wide<T> x) { return static_cast<T>(x); });
  return absl::OkStatus();
}

}  // namespace

void add_sparse_dense_math(Registry& ops) {
  ops.add("SparseTensorDenseAdd", On<"T", numbers>{}, On<"Tindices", indices>{},
          []<class T, class I>(Call& call, In<I> at, In<T> values, In<I> shape, In<T> dense) { return add_dense(call, at, values, shape, dense); });
  const auto add_cwise = [&ops](const char* op, auto f) {
    ops.add(op, reals{}, [f]<class T>(Call& call, In<std::int64_t> at, In<T> values, In<std::int64_t> shape, In<T> dense) {
      return cwise<T>(call, {at.tensor, values.tensor, shape.tensor}, dense, f);
    });
  };
  add_cwise("SparseDenseCwiseAdd", []<class T>(const T& x, const T& y, T& z) -> Status { return z = wrap_add(x, y), absl::OkStatus(); });
  add_cwise("SparseDenseCwiseMul", []<class T>(const T& x, const T& y, T& z) -> Status { return z = wrap_mul(x, y), absl::OkStatus(); });
  add_cwise("SparseDenseCwiseDiv", []<class T>(const T& x, const T& y, T& z) -> Status { return divide(x, y, z); });
  using multiplied = types<float, double, half, bfloat16, std::int32_t, complex64, complex128>;
  ops.add("SparseTensorDenseMatMul", On<"T", multiplied>{}, On<"Tindices", indices>{},
          []<class T, class I>(Call& call, In<I> at, In<T> values, In<std::int64_t> shape, In<T> b, Attr<"adjoint_a", bool> adjoint_a,
                               Attr<"adjoint_b", bool> adjoint_b) { return product(call, at, values, shape.tensor, b, adjoint_a, adjoint_b); });
  ops.cost({"SparseTensorDenseMatMul"}, 20);
}

}  // namespace troupe
