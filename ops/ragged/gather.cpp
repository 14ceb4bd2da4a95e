// RaggedGather and RaggedTensorToSparse.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/ragged/splits.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

using Splits = std::vector<std::int64_t>;

std::vector<Splits> read_splits(const List& list) {
  std::vector<Splits> result;
  for (int i = 0; i < list.size(); ++i) result.push_back(split_values(list[i]));
  return result;
}

Status check_gathered(const List& nested, const std::vector<Splits>& splits, const Tensor& values, const Tensor& indices) {
  if (nested.size() == 0) return invalid("Must have at least one vector of splits");
  if (nested[0].rank() == 0) return invalid("Split tensors must not be scalars");
  const std::int64_t rows = nested[0].dim(0) - 1;
  const Dims at = as_dims(indices);
  for (std::size_t i = 0; i < at.size(); ++i)
    if (at[i] < 0 || at[i] >= rows)
      return invalid("indices{} = {} is not in [0, {})", index_text(indices.shape(), static_cast<std::int64_t>(i)), at[i], rows);
  if (values.rank() == 0) return invalid("params.rank must be nonzero");
  for (std::size_t d = 0; d < splits.size(); ++d) {
    if (splits[d].empty()) return invalid("Ragged splits may not be empty");
    const std::int64_t last = d + 1 == splits.size() ? values.dim(0) : static_cast<std::int64_t>(splits[d + 1].size());
    if (splits[d][0] < 0) return invalid("Ragged splits must be non-negative");
    if (splits[d].back() > last) return invalid("Ragged splits must not point past values");
    for (std::size_t i = 1; i < splits[d].size(); ++i)
      if (splits[d][i - 1] > splits[d][i]) return invalid("Ragged splits must be sorted");
  }
  return absl::OkStatus();
}

/// Dense dimensions of the indices as splits of equal length.
std::vector<Splits> outer_splits(const Shape& indices, std::size_t count) {
  std::vector<Splits> result(count, Splits{0});
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < indices.rank(); ++d) {
    rows *= indices.dim(d);
    for (std::int64_t i = 1; i <= rows; ++i) result[static_cast<std::size_t>(d)].push_back(i * indices.dim(d + 1));
  }
  return result;
}

Status gather(Call& call, const List& nested, const Tensor& values, const Tensor& indices) {
  const std::vector<Splits> splits = read_splits(nested);
  TRY(check_gathered(nested, splits, values, indices));
  const int depth = indices.rank() - 1;
  std::vector<Splits> out = outer_splits(indices.shape(), static_cast<std::size_t>(std::max(depth + nested.size(), 0)));
  std::vector<std::int64_t> rows;
  for (std::int64_t index : as_dims(indices)) {
    std::int64_t first = index, last = index + 1;
    for (std::size_t d = 0; d < splits.size(); ++d) {
      // A split may say more rows than the next vector has; what it says then does not fit.
      if (last >= static_cast<std::int64_t>(splits[d].size())) return invalid("Ragged splits must not point past values");
      const int o = static_cast<int>(d) + depth;
      if (o >= 0) {
        Splits& to = out[static_cast<std::size_t>(o)];
        const std::int64_t delta = to.back() - splits[d][static_cast<std::size_t>(first)];
        for (std::int64_t i = first; i < last; ++i) to.push_back(splits[d][static_cast<std::size_t>(i) + 1] + delta);
      }
      first = splits[d][static_cast<std::size_t>(first)];
      last = splits[d][static_cast<std::size_t>(last)];
    }
    for (; first < last; ++first) rows.push_back(first);
  }
  const DType type = nested[0].dtype();
  for (std::size_t i = 0; i < out.size(); ++i) call.set(static_cast<int>(i), splits_tensor(type, out[i]));
  call.set(static_cast<int>(out.size()), take_rows(values, rows));
  return absl::OkStatus();
}

Status check_nested(const std::vector<Splits>& splits, const Tensor& values) {
  if (splits.empty()) return invalid("rt_nested_splits must be non empty");
  for (std::size_t d = 0; d < splits.size(); ++d) {
    if (splits[d].empty()) return invalid("ragged splits may not be empty.");
    if (splits[d][0] != 0) return invalid("First value of ragged splits must be 0.");
    for (std::size_t i = 1; i < splits[d].size(); ++i)
      if (splits[d][i] < splits[d][i - 1])
        return invalid("Ragged splits should be non decreasing, but we got {} followed by {}", splits[d][i - 1], splits[d][i]);
    if (d > 0 && static_cast<std::int64_t>(splits[d].size()) != splits[d - 1].back() + 1)
      return invalid("Final value of ragged splits must match the length the corresponding ragged values.");
  }
  if (values.rank() < 1) return invalid("rt_dense_values must have rank >= 1");
  if (values.dim(0) != splits.back().back()) return invalid("Final value of ragged splits must match the length the corresponding ragged values.");
  return absl::OkStatus();
}

/// The index of value `at` in the ragged dimensions: its row at each level, the outermost first.
class RaggedIndex {
 public:
  explicit RaggedIndex(const std::vector<Splits>& splits) : splits_(splits), row_(splits.size(), 0) {}
  /// Values come in order.
  void write(std::int64_t at, std::int64_t* out) {
    for (std::size_t d = splits_.size(); d-- > 0;) {
      while (splits_[d][row_[d] + 1] <= at) ++row_[d];
      out[d + 1] = at - splits_[d][row_[d]];
      at = static_cast<std::int64_t>(row_[d]);
    }
    out[0] = at;
  }

 private:
  const std::vector<Splits>& splits_;
  std::vector<std::size_t> row_;
};

Status to_sparse(Call& call, const List& nested, const Tensor& values) {
  const std::vector<Splits> splits = read_splits(nested);
  TRY(check_nested(splits, values));
  const auto depth = static_cast<std::int64_t>(splits.size());
  const std::int64_t rank = depth + values.rank(), inner = values.shape().elements(1, values.rank());
  std::int64_t* index = call.alloc<std::int64_t>(0, Shape{values.size(), rank});
  RaggedIndex ragged(splits);
  for (std::int64_t i = 0; i < values.dim(0); ++i)
    for (std::int64_t j = 0; j < inner; ++j, index += rank) {
      ragged.write(i, index);
      std::int64_t rest = j;
      for (int d = values.rank() - 1; d > 0; rest /= values.dim(d), --d) index[depth + d] = rest % values.dim(d);
    }
  call.set(1, values.reshaped(Shape{values.size()}));
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(splits[0].size()) - 1};
  for (const Splits& s : splits) {
    std::int64_t widest = 0;
    for (std::size_t i = 1; i < s.size(); ++i) widest = std::max(widest, s[i] - s[i - 1]);
    shape.push_back(widest);
  }
  for (int d = 1; d < values.rank(); ++d) shape.push_back(values.dim(d));
  call.set(2, sizes_tensor(shape));
  return absl::OkStatus();
}

}  // namespace

void add_ragged_gather(Registry& ops) {
  const DTypes moved = dtypes::plain_strings() + dtypes::quantized() + dtypes::quantized16();
  add_for(ops, "RaggedGather", {{"Tvalues", moved}, {"Tindices", list_of(indices{})}, {"Tsplits", list_of(indices{})}},
          [](Call& call, List nested, Any values, Any at) { return gather(call, nested, values.tensor, at.tensor); });
  add_for(ops, "RaggedTensorToSparse", {{"Tsplits", list_of(indices{})}},
          [](Call& call, List nested, Any values) { return to_sparse(call, nested, values.tensor); });
}

}  // namespace troupe
