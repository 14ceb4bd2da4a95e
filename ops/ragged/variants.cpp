// Ragged tensors as values of variants, one for all of it or one for each row.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/ragged/ragged_value.hpp>
#include <troupe/ops/ragged/splits.hpp>
#include <troupe/ops/resources/tensor_list.hpp>

namespace troupe {
namespace {

/// Splits of one level, for a dimension of so many values.
Status check_level(const Tensor& splits, int level, std::int64_t values) {
  if (splits.rank() != 1) return invalid("Requires nested_row_splits[{}] to be rank 1 but is rank {}", level, splits.rank());
  if (splits.size() < 1) return invalid("Requires nested_row_splits[{}] has at least one splits, but is empty.", level);
  const auto at = split_values(splits);
  if (at[0] != 0) return invalid("Requires the first element of nested_row_splits[{}] to be 0 but is {}", level, at[0]);
  for (std::size_t i = 1; i < at.size(); ++i)
    if (at[i] < at[i - 1])
      return invalid("Requires splits to be monotonically increasing, but nested_row_splits[{}][{}]={} is smaller than nested_row_splits[{}][{}]={}",
                     level, i, at[i], level, i - 1, at[i - 1]);
  if (at.back() != values)
    return invalid("Requires nested_row_splits[{}][-1]={} to be equal with the number of values in this dimension, which is {}.", level, at.back(),
                   values);
  return absl::OkStatus();
}

Status check_nested(const List& nested, const Tensor& values) {
  for (int i = nested.size() - 1; i >= 0; --i) {
    if (i == nested.size() - 1 && values.rank() < 1)
      return invalid("Requires flat_values to have rank>=1 when nested_row_splits is not empty, but is 0.");
    TRY(check_level(nested[i], i, i == nested.size() - 1 ? values.dim(0) : nested[i + 1].dim(0) - 1));
  }
  return absl::OkStatus();
}

/// Row `row` as a ragged tensor of its own.
Variant row_of(const std::vector<std::vector<std::int64_t>>& splits, DType type, const Tensor& values, std::int64_t row) {
  auto first = splits[0][static_cast<std::size_t>(row)], last = splits[0][static_cast<std::size_t>(row) + 1];
  std::vector<Tensor> inner;
  for (std::size_t d = 1; d < splits.size(); ++d) {
    std::vector<std::int64_t> part(splits[d].begin() + first, splits[d].begin() + last + 1);
    first = part.front();
    last = part.back();
    for (std::int64_t& at : part) at -= first;
    inner.push_back(splits_tensor(type, part));
  }
  return as_variant(values.rows(first, last), std::move(inner));
}

Status to_variant(Call& call, const List& nested, const Tensor& values, bool batched) {
  TRY(check_nested(nested, values));
  if (!batched) {
    std::vector<Tensor> splits;
    for (int i = 0; i < nested.size(); ++i) splits.push_back(nested[i]);
    call.set_scalar<Variant>(0, as_variant(values, std::move(splits)));
    return absl::OkStatus();
  }
  if (nested.size() == 0) {
    if (values.rank() < 1) return invalid("Can't unbatch rank-0 tensor.");
    Variant* out = call.alloc<Variant>(0, Shape{values.dim(0)});
    Shape inner = values.shape();
    inner.remove_dim(0);
    for (std::int64_t i = 0; i < values.dim(0); ++i) out[i] = as_variant(values.rows(i, i + 1).reshaped(inner), {});
    return absl::OkStatus();
  }
  std::vector<std::vector<std::int64_t>> splits;
  for (int i = 0; i < nested.size(); ++i) splits.push_back(split_values(nested[i]));
  const auto rows = static_cast<std::int64_t>(splits[0].size()) - 1;
  Variant* out = call.alloc<Variant>(0, Shape{rows});
  for (std::int64_t i = 0; i < rows; ++i) out[i] = row_of(splits, nested[0].dtype(), values, i);
  return absl::OkStatus();
}

StatusOr<std::vector<const RaggedValue*>> components(const Tensor& encoded, std::int64_t depth, bool dense, DType values, DType splits) {
  std::vector<const RaggedValue*> result;
  for (std::int64_t i = 0; i < encoded.size(); ++i) {
    const RaggedValue* one = ragged_in(encoded.data<Variant>()[i]);
    if (!one) return invalid("Input Variant element at index {} doesn't hold a RaggedTensorVariant: {}", i, show_variant(encoded.data<Variant>()[i]));
    if (static_cast<std::int64_t>(one->splits.size()) != depth)
      return invalid("Encoded input RaggedTensorVariant has ragged_rank={}.  Expected ragged_rank={}.", one->splits.size(), depth);
    if (one->values.dtype() != values) return invalid("Expected values Tensor dtype: {}, found: {}", name_of(values), name_of(one->values.dtype()));
    if (one->values.rank() < 1 && !dense)
      return invalid("Ragged values must have rank >= 1; encoded scalar element at index {} has values Tensor: {}", i, describe(one->values));
    for (const Tensor& s : one->splits) {
      if (s.dtype() != splits) return invalid("Expected row_splits Tensor dtype: {}, found: {}", name_of(splits), name_of(s.dtype()));
      if (s.rank() != 1) return invalid("Ragged splits must have rank 1; encoded scalar element at index {} has splits Tensor {}", i, describe(s));
    }
    result.push_back(one);
  }
  return result;
}

/// All values one after the other.
StatusOr<Tensor> joined_values(const std::vector<const RaggedValue*>& parts, DType dtype) {
  if (parts.empty()) return Tensor(dtype, Shape{0});
  Shape shape = parts[0]->values.shape();
  std::int64_t rows = shape.dim(0);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape& other = parts[i]->values.shape();
    if (other.rank() != shape.rank())
      return invalid("Rank of values must match for all components; values shape at index 0: {}, values shape at index {}: {}", shape, i, other);
    rows += other.dim(0);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape first(shape.dims().subspan(1)), other(parts[i]->values.shape().dims().subspan(1));
    if (first != other)
      return invalid(
          "All flat_values must have compatible shapes.  Shape at index 0: {}.  Shape at index {}: {}.  If you are using tf.map_fn, then you may "
          "need to specify an explicit fn_output_signature with appropriate ragged_rank, and/or convert output tensors to RaggedTensors.",
          first, i, other);
  }
  shape.set_dim(0, rows);
  Tensor whole(dtype, shape);
  std::int64_t at = 0;
  for (const RaggedValue* part : parts) {
    copy_into(part->values, whole, at);
    at += part->values.size();
  }
  return whole;
}

/// Tensors without splits become one with a dimension more.
StatusOr<Tensor> stacked_values(const std::vector<const RaggedValue*>& parts, DType dtype) {
  if (parts.empty()) return Tensor(dtype, Shape{0});
  const Shape& first = parts[0]->values.shape();
  Shape shape = first;
  shape.insert_dim(0, static_cast<std::int64_t>(parts.size()));
  Tensor whole(dtype, shape);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& values = parts[i]->values;
    if (values.shape() != first)
      return invalid("All flat_values must have compatible shapes.  Shape at index 0: {}.  Shape at index {}: {}", first, i, values.shape());
    copy_into(values, whole, static_cast<std::int64_t>(i) * values.size());
  }
  return whole;
}

Status from_variant(Call& call, const Tensor& encoded, std::int64_t input_rank, std::int64_t output_rank, DType values, DType splits) {
  if (input_rank == -1) {
    input_rank = output_rank - encoded.rank();
    if (output_rank == 0) input_rank = std::max<std::int64_t>(input_rank, 0);
    if (input_rank < 0)
      return invalid(
          "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found output_ragged_rank: {}, "
          "encoded_variant.dims(): {}, inferred input_ragged_rank: {}",
          output_rank, encoded.rank(), input_rank);
  }
  const bool dense = output_rank == 0 && input_rank == 0;
  if (!dense && output_rank != encoded.rank() + input_rank)
    return invalid(
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: {}, input_ragged_rank: {}, "
        "encoded_variant.dims(): {}.",
        output_rank, input_rank, encoded.rank());
  TRY_ASSIGN(const auto parts, components(encoded, input_rank, output_rank == 0, values, splits));
  int output = 0;
  if (encoded.rank() == 0) {
    for (const Tensor& s : parts[0]->splits) call.set(output++, s);
    call.set(output, parts[0]->values);
    return absl::OkStatus();
  }
  if (dense) {
    TRY_ASSIGN(Tensor whole, stacked_values(parts, values));
    call.set(0, std::move(whole));
    return absl::OkStatus();
  }
  for (int d = 0; d + 1 < encoded.rank(); ++d) {
    std::vector<std::int64_t> even;
    for (std::int64_t i = 0; i <= encoded.dim(d); ++i) even.push_back(i * encoded.dim(d + 1));
    call.set(output++, splits_tensor(splits, even));
  }
  std::vector<std::int64_t> rows{0};
  for (const RaggedValue* part : parts) rows.push_back(rows.back() + (input_rank > 0 ? part->splits[0].size() - 1 : part->values.dim(0)));
  call.set(output++, splits_tensor(splits, rows));
  for (std::int64_t d = 0; d < input_rank; ++d) {
    std::vector<std::int64_t> joined{0};
    for (const RaggedValue* part : parts) {
      const std::int64_t base = joined.back();
      const auto own = split_values(part->splits[static_cast<std::size_t>(d)]);
      for (std::size_t i = 1; i < own.size(); ++i) joined.push_back(base + own[i]);
    }
    call.set(output++, splits_tensor(splits, joined));
  }
  TRY_ASSIGN(Tensor whole, joined_values(parts, values));
  call.set(output, std::move(whole));
  return absl::OkStatus();
}

Status variant_gradient(Call& call, const Tensor& encoded, const Tensor& splits, const Tensor& sizes, DType dtype) {
  if (sizes.rank() != 1) return invalid("dense_values_shape must be a vector, got shape {}", sizes.shape());
  TRY_ASSIGN(const Shape shape, make_shape(sizes));
  const auto at = split_values(splits);
  std::vector<Tensor> pieces;
  for (std::int64_t i = 0; i < encoded.size(); ++i) {
    if (const RaggedValue* one = ragged_in(encoded.data<Variant>()[i])) {
      if (one->values.dtype() != dtype) return invalid("Expected values Tensor dtype: {}, found: {}", name_of(dtype), name_of(one->values.dtype()));
      pieces.push_back(one->values);
      continue;
    }
    // Nothing depended on this row: its gradient is zero.
    if (shape.rank() < 1 || i + 1 >= static_cast<std::int64_t>(at.size())) return invalid("row_splits has no entry for row {}", i);
    std::vector<std::int64_t> dims(shape.begin(), shape.end());
    dims[0] = at[static_cast<std::size_t>(i) + 1] - at[static_cast<std::size_t>(i)];
    TRY_ASSIGN(const Shape piece, make_shape(dims));
    pieces.push_back(Tensor::zeros(dtype, piece));
  }
  if (pieces.size() == 1) {
    call.set(0, pieces[0]);
    return absl::OkStatus();
  }
  std::int64_t total = 0;
  for (const Tensor& piece : pieces) total += piece.size();
  if (total != shape.elements()) return invalid("Gradients have {} values, but dense_values_shape is {}", total, shape);
  Tensor& out = call.alloc(0, dtype, shape);
  std::int64_t to = 0;
  for (const Tensor& piece : pieces) {
    copy_into(piece, out, to);
    to += piece.size();
  }
  return absl::OkStatus();
}

}  // namespace

void add_ragged_variants(Registry& ops) {
  introduce_ragged_values();
  const DTypes moved = dtypes::plain_strings() + dtypes::quantized() + dtypes::quantized16();
  const std::vector<ForTypes> where{{"Tvalues", moved}, {"Tsplits", list_of(indices{})}};
  add_for(ops, "RaggedTensorToVariant", where,
          [](Call& call, List nested, Any values, Attr<"batched_input", bool> batched) { return to_variant(call, nested, values.tensor, batched); });
  add_for(ops, "RaggedTensorFromVariant", where,
          [](Call& call, Any encoded, Attr<"input_ragged_rank", std::int64_t> input, Attr<"output_ragged_rank", std::int64_t> output,
             Attr<"Tvalues", DType> values,
             Attr<"Tsplits", DType> splits) { return from_variant(call, encoded.tensor, input, output, *values, *splits); });
  add_for(ops, "RaggedTensorToVariantGradient", where, [](Call& call, Any encoded, Any splits, Any shape, Attr<"Tvalues", DType> values) {
    return variant_gradient(call, encoded.tensor, splits.tensor, shape.tensor, *values);
  });
}

}  // namespace troupe
