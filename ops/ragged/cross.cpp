// RaggedCross: crosses of ragged, sparse and dense features.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/ragged/splits.hpp>
#include <troupe/ops/sparse/cross.hpp>

#include <algorithm>
#include <limits>

namespace troupe {
namespace {

struct RaggedCrossInputs {
  List values, splits, sparse_indices, sparse_values, sparse_shapes, dense;
};

std::int64_t row_count(const RaggedCrossInputs& in) {
  if (in.splits.size() > 0) return in.splits[0].size() - 1;
  if (in.dense.size() > 0) return in.dense[0].dim(0);
  return in.sparse_shapes.size() > 0 ? in.sparse_shapes[0].item<std::int64_t>() : 0;
}

Status check_lengths(const RaggedCrossInputs& in, const std::string& order) {
  if (in.values.size() != in.splits.size()) return invalid("ragged values and splits must have the same length");
  if (in.sparse_indices.size() != in.sparse_values.size()) return invalid("sparse indices and values must have the same length");
  if (in.values.size() + in.sparse_values.size() + in.dense.size() != static_cast<int>(order.size()))
    return invalid("Invalid length for input_order");
  return absl::OkStatus();
}

Status check_splits(const Tensor& splits, std::int64_t values) {
  const auto at = split_values(splits);
  if (at.empty()) return invalid("Invalid RaggedTensor: Ragged splits must be non-empty.");
  if (at.front() != 0) return invalid("Invalid RaggedTensor: Ragged splits must start from 0.");
  if (at.back() != values) return invalid("Invalid RaggedTensor: Ragged splits must end with the number of values.");
  if (!std::is_sorted(at.begin(), at.end())) return invalid("Invalid RaggedTensor: Ragged splits must be sorted in ascending order.");
  return absl::OkStatus();
}

Status check_ranks(const RaggedCrossInputs& in) {
  for (int i = 0; i < in.values.size(); ++i) {
    if (in.values[i].rank() != 1 || in.splits[i].rank() != 1) return invalid("tf.ragged.cross only supports inputs with rank=2.");
    TRY(check_splits(in.splits[i], in.values[i].size()));
  }
  for (int i = 0; i < in.sparse_indices.size(); ++i) {
    if (in.sparse_indices[i].rank() != 2 || in.sparse_values[i].rank() != 1 || in.sparse_shapes[i].rank() != 1)
      return invalid("Invalid SparseTensor {}", i);
    if (in.sparse_shapes[i].size() != 2) return invalid("tf.ragged.cross only supports inputs with rank=2.");
    if (in.sparse_indices[i].dim(0) != in.sparse_values[i].size() || in.sparse_indices[i].dim(1) != 2) return invalid("Invalid SparseTensor {}", i);
  }
  for (int i = 0; i < in.dense.size(); ++i)
    if (in.dense[i].rank() != 2) return invalid("tf.ragged.cross only supports inputs with rank=2.");
  const std::int64_t rows = row_count(in);
  bool same = rows >= 0;
  for (int i = 0; i < in.splits.size(); ++i) same = same && in.splits[i].size() - 1 == rows;
  for (int i = 0; i < in.sparse_shapes.size(); ++i) same = same && in.sparse_shapes[i].item<std::int64_t>() == rows;
  for (int i = 0; i < in.dense.size(); ++i) same = same && in.dense[i].dim(0) == rows;
  return same ? absl::OkStatus() : invalid("inputs must all have the same batch dimension size.");
}

FeatureColumn sparse_column(const Tensor& indices, const Tensor& values, std::int64_t rows) {
  FeatureColumn column{&values, {0}};
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    while (at < values.size() && indices.data<std::int64_t>()[at * 2] <= row) ++at;
    column.splits.push_back(at);
  }
  return column;
}

/// Columns in the order that a letter for each says.
StatusOr<FeatureColumns> columns_of(const RaggedCrossInputs& in, const std::string& order) {
  FeatureColumns columns;
  int ragged = 0, sparse = 0, dense = 0;
  for (char c : order) {
    if (c == 'R' && ragged < in.values.size()) {
      columns.push_back({&in.values[ragged], split_values(in.splits[ragged])});
      ++ragged;
    } else if (c == 'S' && sparse < in.sparse_values.size()) {
      columns.push_back(sparse_column(in.sparse_indices[sparse], in.sparse_values[sparse], row_count(in)));
      ++sparse;
    } else if (c == 'D' && dense < in.dense.size()) {
      columns.push_back(dense_column(in.dense[dense++]));
    } else if (c == 'R') {
      return invalid("input_order \"{}\" specifies reading a ragged tensor value at index {} from a list of {} values.", order, ragged,
                     in.values.size());
    } else if (c == 'S') {
      return invalid("input_order \"{}\" specifies reading a sparse tensor value at index {} from a list of {} values.", order, sparse,
                     in.sparse_values.size());
    } else if (c == 'D') {
      return invalid("input_order \"{}\" specifies reading a dense tensor at index {} from a list of {} tensors.", order, dense, in.dense.size());
    } else {
      return invalid("Unexpected input_order value.");
    }
  }
  return columns;
}

}  // namespace

void add_ragged_cross(Registry& ops) {
  add_for(ops, "RaggedCross", {{"out_row_splits_type", list_of(indices{})}},
          [](Call& call, List values, List splits, List sparse_indices, List sparse_values, List sparse_shapes, List dense,
             Attr<"input_order", std::string> order, Attr<"num_buckets", std::int64_t> buckets, Attr<"hash_key", std::int64_t> key,
             Attr<"out_values_type", DType> type, Attr<"out_row_splits_type", DType> splits_type) -> Status {
            const RaggedCrossInputs in{values, splits, sparse_indices, sparse_values, sparse_shapes, dense};
            TRY(check_lengths(in, *order));
            TRY(check_ranks(in));
            TRY_ASSIGN(const FeatureColumns columns, columns_of(in, *order));
            const std::int64_t rows = row_count(in);
            TRY_ASSIGN(const auto at, cross_splits(columns, rows));
            if (*splits_type == DType::i32 && at.back() > std::numeric_limits<std::int32_t>::max())
              return invalid("Too many crosses for splits of int32");
            call.set(1, splits_tensor(*splits_type, at));
            const auto start = static_cast<std::uint64_t>(*key);
            if (*type == DType::string) write_crosses(columns, rows, join_texts(columns, "_X_"), call.alloc<std::string>(0, Shape{at.back()}));
            else
              write_crosses(columns, rows, join_fingerprints(columns, plain_fingerprint, &start, buckets),
                            call.alloc<std::int64_t>(0, Shape{at.back()}));
            return absl::OkStatus();
          });
}

}  // namespace troupe
