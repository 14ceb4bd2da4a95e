// Counts of values in bins, row by row: SparseBincount and RaggedBincount.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

/// A row of counts for each row of the input.
template <class T>
struct Bins {
  T* counts;
  std::int64_t size;
  bool binary;

  void add(std::int64_t row, std::int64_t bin, const T& weight) {
    T& count = counts[row * size + bin];
    count = binary ? T(1) : wrap_add(count, weight);
  }
};

template <class I>
StatusOr<std::int64_t> bin_count(const In<I>& size) {
  if (size.dims() != 0) return invalid("Shape must be rank 0 but is rank {}", size.dims());
  if (size[0] < 0) return invalid("size ({}) must be non-negative", size[0]);
  return static_cast<std::int64_t>(size[0]);
}

template <class T>
StatusOr<Bins<T>> zero_bins(Call& call, std::span<const std::int64_t> dims, bool binary) {
  TRY_ASSIGN(const Shape shape, Shape::checked(dims));
  Bins<T> bins{call.alloc<T>(0, shape), dims.back(), binary};
  std::fill_n(bins.counts, shape.elements(), T(0));
  return bins;
}

template <class T, class I>
Status count_vector(Call& call, const In<I>& values, std::int64_t size, const In<T>& weights, bool binary) {
  for (const I& value : values.values())
    if (value < 0) return invalid("Input arr must be non-negative!");
  if (!binary && weights.size() > 0 && weights.size() != values.size()) return invalid("Input indices and weights must have the same size.");
  const std::int64_t dims[] = {size};
  TRY_ASSIGN(Bins<T> bins, zero_bins<T>(call, dims, binary));
  for (std::int64_t i = 0; i < values.size(); ++i)
    if (values[i] < size) bins.add(0, values[i], weights.size() > 0 && !binary ? weights[i] : T(1));
  return absl::OkStatus();
}

template <class T, class I>
Status sparse_bincount(Call& call, const SparseIn& s, const In<I>& values, const In<I>& size_in, const In<T>& weights, bool binary) {
  TRY_ASSIGN(const std::int64_t size, bin_count(size_in));
  TRY(check_together(s));
  TRY(check_bounds(s));
  if (s.shape.size() == 1) return count_vector(call, values, size, weights, binary);
  if (s.shape.size() == 0) return invalid("The shape argument requires at least one element.");
  const std::int64_t dims[] = {s.sizes()[0], size};
  TRY_ASSIGN(Bins<T> bins, zero_bins<T>(call, dims, binary));
  if (weights.size() > 0 && weights.size() != values.size()) return invalid("Input indices and weights must have the same size.");
  for (std::int64_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) return invalid("Input must be non-negative");
    if (values[i] < size) bins.add(s.row(i)[0], values[i], weights.size() > 0 ? weights[i] : T(1));
  }
  return absl::OkStatus();
}

template <class T, class I>
Status ragged_bincount(Call& call, const In<std::int64_t>& splits, const In<I>& values, const In<I>& size_in, const In<T>& weights, bool binary) {
  TRY_ASSIGN(const std::int64_t size, bin_count(size_in));
  if (splits.size() < 1) return invalid("Splits must be non-empty");
  const std::int64_t rows = splits.size() - 1;
  if (splits[0] != 0) return invalid("Splits must start with 0, not with {}", splits[0]);
  if (splits[rows] != values.size()) return invalid("Splits must end with the number of values, got {} instead of {}", splits[rows], values.size());
  if (weights.size() > 0 && weights.size() != values.size()) return invalid("Input indices and weights must have the same size.");
  const std::int64_t dims[] = {rows, size};
  TRY_ASSIGN(Bins<T> bins, zero_bins<T>(call, dims, binary));
  std::int64_t row = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    // Ends before the last split, which is the number of values.
    while (i >= splits[row]) ++row;
    if (values[i] < 0) return invalid("Input must be non-negative");
    if (values[i] < size) bins.add(row - 1, values[i], weights.size() > 0 ? weights[i] : T(1));
  }
  return absl::OkStatus();
}

}  // namespace

void add_sparse_bincount(Registry& ops) {
  using counted = types<std::int32_t, std::int64_t, float, double>;
  ops.add("SparseBincount", On<"T", counted>{}, On<"Tidx", indices>{},
          []<class T, class I>(Call& call, In<std::int64_t> at, In<I> values, In<std::int64_t> shape, In<I> size, In<T> weights,
                               Attr<"binary_output", bool> binary) {
            return sparse_bincount(call, {at.tensor, values.tensor, shape.tensor}, values, size, weights, binary);
          });
  ops.add("RaggedBincount", On<"T", counted>{}, On<"Tidx", indices>{},
          []<class T, class I>(Call& call, In<std::int64_t> splits, In<I> values, In<I> size, In<T> weights, Attr<"binary_output", bool> binary) {
            return ragged_bincount(call, splits, values, size, weights, binary);
          });
}

}  // namespace troupe
