// Counts of values as sparse tensors, of dense, sparse and ragged input.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <limits>
#include <map>

namespace troupe {
namespace {

struct CountOptions {
  std::int64_t least, most;
  bool binary;
};

/// How often each value came, row by row.
template <class I, class W>
class Counts {
 public:
  Counts(std::int64_t rows, const CountOptions& options) : options_(options), rows_(static_cast<std::size_t>(rows)) {}

  void add(std::int64_t row, const I& value, const W& weight) {
    if (value < 0 || (options_.most >= 0 && value >= options_.most)) return;
    W& count = rows_[static_cast<std::size_t>(row)][value];
    count = options_.binary ? W(1) : wrap_add(count, weight);
    largest_ = std::max<std::int64_t>(largest_, value);
  }

  void write(Call& call, bool vector) const {
    std::int64_t total = 0;
    for (const auto& row : rows_) total += static_cast<std::int64_t>(row.size());
    std::int64_t* index = call.alloc<std::int64_t>(0, Shape{total, vector ? 1 : 2});
    W* count = call.alloc<W>(1, Shape{total});
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (const auto& [value, n] : rows_[r]) {
        if (!vector) *index++ = static_cast<std::int64_t>(r);
        *index++ = value;
        *count++ = n;
      }
    std::vector<std::int64_t> shape;
    if (!vector) shape.push_back(static_cast<std::int64_t>(rows_.size()));
    shape.push_back(options_.most >= 0 ? options_.most : std::max(largest_ + 1, options_.least));
    call.set(2, sizes_tensor(shape));
  }

 private:
  CountOptions options_;
  std::vector<std::map<I, W>> rows_;
  std::int64_t largest_ = 0;
};

template <class I>
Status check_values(const In<I>& values) {
  for (const I& value : values.values())
    if (value < 0) return invalid("Input values must all be non-negative");
  return absl::OkStatus();
}

Status check_weights(const Tensor& weights, const Tensor& values, const char* name) {
  if (weights.size() == 0 || weights.shape() == values.shape()) return absl::OkStatus();
  return invalid("Weights and {} must have the same shape. Weight shape: {}; {} shape: {}", name, weights.shape(), name, values.shape());
}

template <class W>
W weight_at(const In<W>& weights, std::int64_t i) {
  return weights.size() > 0 ? weights[i] : W(1);
}

template <class I, class W>
Status count_dense(Call& call, const In<I>& data, const In<W>& weights, const CountOptions& options) {
  if (data.dims() != 1 && data.dims() != 2) return invalid("Input must be a 1 or 2-dimensional tensor. Got: {}", data.shape());
  TRY(check_values(data));
  TRY(check_weights(weights.tensor, data.tensor, "data"));
  const bool vector = data.dims() == 1;
  if (!vector && data.dim(0) == 0) return invalid("Invalid input: Shapes dimension cannot be 0.");
  const std::int64_t rows = vector ? 1 : data.dim(0), n = data.size() / rows;
  Counts<I, W> counts(rows, options);
  for (std::int64_t i = 0; i < data.size(); ++i) counts.add(i / n, data[i], weight_at(weights, i));
  counts.write(call, vector);
  return absl::OkStatus();
}

Status check_counted(const SparseIn& s) {
  if (s.indices.rank() != 2) return invalid("Input indices must be a 2-dimensional tensor. Got: {}", s.indices.shape());
  if (s.values.rank() != 1) return invalid("Input values must be a vector. Got: {}", s.values.shape());
  if (s.shape.rank() != 1) return invalid("Input shape must be a vector. Got: {}", s.shape.shape());
  if (s.values.dim(0) != s.rows())
    return invalid("Number of values must match first dimension of indices.Got {} values, indices shape: {}", s.values.dim(0), s.indices.shape());
  if (s.shape.dim(0) != s.rank())
    return invalid("Number of dimensions must match second dimension of indices.Got {} dimensions, indices shape: {}", s.shape.dim(0),
                   s.indices.shape());
  if (s.shape.size() == 0) return invalid("The shape argument requires at least one element.");
  for (std::int64_t i = 0; i < s.rows(); ++i)
    for (std::size_t d = 0; d < s.sizes().size(); ++d)
      if (const std::int64_t at = s.row(i)[d]; at < 0 || at >= s.sizes()[d])
        return invalid("Invalid index value at {}: dimension {} has value {} which is not in [0, {}) (as given by dense shape {}", i, d, at,
                       s.sizes()[d], describe(s.shape));
  return absl::OkStatus();
}

template <class I, class W>
Status count_sparse(Call& call, const SparseIn& s, const In<I>& values, const In<W>& weights, const CountOptions& options) {
  TRY(check_counted(s));
  TRY(check_values(values));
  TRY(check_weights(weights.tensor, values.tensor, "values"));
  const bool vector = s.shape.size() == 1;
  // As the reference has it, the number of rows is cut to 32 bits.
  const auto rows = vector ? 1 : static_cast<std::int32_t>(s.sizes()[0]);
  if (rows <= 0 || rows == std::numeric_limits<std::int32_t>::max() || (!vector && rows != s.sizes()[0]))
    return invalid("Cannot allocate {} batches, is the dense shape too wide?", rows);
  Counts<I, W> counts(rows, options);
  for (std::int64_t i = 0; i < values.size(); ++i) counts.add(vector ? 0 : s.row(i)[0], values[i], weight_at(weights, i));
  counts.write(call, vector);
  return absl::OkStatus();
}

template <class I, class W>
Status count_ragged(Call& call, const In<std::int64_t>& splits, const In<I>& values, const In<W>& weights, const CountOptions& options) {
  TRY(check_weights(weights.tensor, values.tensor, "values"));
  const std::int64_t rows = splits.size() - 1;
  if (rows <= 0) return invalid("Must provide at least 2 elements for the splits argument");
  if (splits[0] != 0) return invalid("Splits must start with 0, not with {}", splits[0]);
  if (splits[rows] != values.size()) return invalid("Splits must end with the number of values, got {} instead of {}", splits[rows], values.size());
  TRY(check_values(values));
  Counts<I, W> counts(rows, options);
  std::int64_t row = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    while (i >= splits[row]) ++row;
    counts.add(row - 1, values[i], weight_at(weights, i));
  }
  counts.write(call, false);
  return absl::OkStatus();
}

}  // namespace

void add_sparse_counts(Registry& ops) {
  using weighed = joined<integers, full_floats>;
  using Least = Attr<"minlength", std::int64_t>;
  using Most = Attr<"maxlength", std::int64_t>;
  using Binary = Attr<"binary_output", bool>;
  const On<"T", indices> by_value;
  const On<"output_type", weighed> by_weight;
  ops.add("DenseCountSparseOutput", by_value, by_weight,
          []<class I, class W>(Call& call, In<I> data, In<W> weights, Least least, Most most, Binary binary) {
            return count_dense(call, data, weights, CountOptions{least, most, binary});
          });
  ops.add("SparseCountSparseOutput", by_value, by_weight,
          []<class I, class W>(Call& call, In<std::int64_t> at, In<I> values, In<std::int64_t> shape, In<W> weights, Least least, Most most,
                               Binary binary) {
            return count_sparse(call, {at.tensor, values.tensor, shape.tensor}, values, weights, CountOptions{least, most, binary});
          });
  ops.add("RaggedCountSparseOutput", by_value, by_weight,
          []<class I, class W>(Call& call, In<std::int64_t> splits, In<I> values, In<W> weights, Least least, Most most, Binary binary) {
            return count_ragged(call, splits, values, weights, CountOptions{least, most, binary});
          });
}

}  // namespace troupe
