// TensorArray ops on many elements at once: gather, scatter, concat, split.
#include <troupe/ops/containers/tensor_arrays.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>
#include <troupe/ops/resources/rows.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe {
namespace {

using Indices = std::vector<std::int32_t>;

StatusOr<Indices> indices_of(const Tensor& t) {
  if (t.rank() != 1) return invalid("Expected indices to be a vector, but received shape: {}", t.shape());
  const auto values = t.values<std::int32_t>();
  return Indices(values.begin(), values.end());
}

StatusOr<Indices> all_indices(const TensorArray& array) {
  TRY_ASSIGN(const std::int32_t size, array.size());
  Indices all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Status gather(Call& call, TensorArray& array, const Indices& indices, DType dtype, const PartialShape& element) {
  TRY(check_requested(array, dtype));
  TRY(array.narrow_shape(element));
  if (indices.empty()) {
    // What the array itself knows does not count here.
    const auto shape = element.known();
    if (!shape)
      return unimplemented(
          "TensorArray has size zero, but element shape {} is not fully defined. Currently only static shapes are supported when packing zero-size "
          "TensorArrays.",
          element);
    call.set(0, stack_rows(dtype, *shape, {}));
    return absl::OkStatus();
  }
  std::vector<Tensor> values;
  for (std::int32_t i : indices) {
    TRY_ASSIGN(Tensor value, array.read(i));
    values.push_back(std::move(value));
  }
  const Shape& first = values[0].shape();
  if (!element.compatible_with(first))
    return invalid("TensorArray was passed element_shape {} which does not match the Tensor at index 0: {}", element, first);
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i].shape() != first)
      return invalid("TensorArray has inconsistent shapes.  Index 0 has shape: {} but index {} has shape: {}", first, i, values[i].shape());
  call.set(0, stack_rows(dtype, first, values));
  return absl::OkStatus();
}

Status concat(Call& call, TensorArray& array, DType dtype, const PartialShape& except0) {
  TRY(check_requested(array, dtype));
  TRY_ASSIGN(const Indices all, all_indices(array));
  if (all.empty()) {
    const auto rest = except0.known();
    if (!rest)
      return unimplemented(
          "TensorArray has size zero, but element_shape_except0 {} is not fully defined. Currently only static shapes are supported when "
          "concatenating "
          "zero-size TensorArrays.",
          except0);
    call.set(0, stack_rows(dtype, *rest, {}));
    call.set(1, Tensor(DType::i64, Shape{0}));
    return absl::OkStatus();
  }
  std::vector<Tensor> values;
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0;
  Shape rest;
  for (std::int32_t i : all) {
    TRY_ASSIGN(Tensor value, array.read(i));
    if (value.rank() == 0) return invalid("Concat saw a scalar shape at index {} but requires at least vectors.  Did you mean to call pack?", i);
    Shape shape = value.shape();
    lengths.push_back(shape.dim(0));
    total += shape.dim(0);
    shape.remove_dim(0);
    if (i == 0) {
      rest = shape;
      if (!except0.compatible_with(rest))
        return invalid("TensorArray was passed element_shape_except0 {} but index 0 has (excepting dimension 0) shape: {} which does not match.",
                       except0, rest);
    } else if (shape != rest) {
      return invalid(
          "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {} but index {} has (excepting dimension 0) shape: {}",
          rest, i, shape);
    }
    values.push_back(std::move(value));
  }
  rest.insert_dim(0, total);
  Tensor& out = call.alloc(0, dtype, rest);
  std::int64_t at = 0;
  for (const Tensor& value : values) {
    copy_elements(value, 0, out, at, value.size());
    at += value.size();
  }
  call.set(1, Tensor::vector(lengths));
  return absl::OkStatus();
}

Tensor element_at(const Tensor& batch, std::int64_t i) {
  Shape shape = batch.shape();
  shape.remove_dim(0);
  return batch.rows(i, i + 1).reshaped(shape);
}

Status scatter(TensorArray& array, const Indices& indices, const Tensor& value, bool all) {
  TRY_ASSIGN(std::int32_t size, array.size());
  TRY(check_written(array, value.dtype()));
  if (value.rank() == 0) return invalid("Input value for unpack must be at least a vector but received shape: {}", value.shape());
  const std::int64_t rows = value.dim(0);
  if (all) {
    if (array.dynamic()) size = static_cast<std::int32_t>(std::max<std::int64_t>(size, rows));
    if (rows != size) return invalid("Input value must have first dimension equal to the array size ({} vs. {})", rows, size);
  } else {
    if (static_cast<std::int64_t>(indices.size()) != rows)
      return invalid("Expected len(indices) == values.shape[0], but saw: {} vs. {}", indices.size(), rows);
    const std::int32_t largest = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
    if (!array.dynamic() && largest >= size) return invalid("Max scatter index must be < array size ({} vs. {})", largest, size);
  }
  for (std::int64_t i = 0; i < rows; ++i)
    TRY(array.write(all ? static_cast<std::int32_t>(i) : indices[static_cast<std::size_t>(i)], element_at(value, i)));
  return absl::OkStatus();
}

Status split(TensorArray& array, const Tensor& value, const Tensor& lengths) {
  if (lengths.rank() != 1) return invalid("Expected lengths to be a vector, received shape: {}", lengths.shape());
  if (lengths.size() > std::numeric_limits<std::int32_t>::max()) return invalid("Expected lengths to have < max int32 entries");
  std::int64_t total = 0;
  for (std::int64_t length : lengths.values<std::int64_t>()) {
    if (length < 0 || __builtin_add_overflow(total, length, &total)) return invalid("Lengths must be non-negative, got {}", length);
  }
  if (value.rank() == 0) return invalid("Expected value to be at least a vector, but received shape: {}", value.shape());
  if (total != value.dim(0))
    return invalid("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {}", total, value.shape());
  TRY_ASSIGN(std::int32_t size, array.size());
  const auto count = static_cast<std::int32_t>(lengths.size());
  if (array.dynamic()) size = std::max(size, count);
  if (size != count)
    return invalid("TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray is not marked as dynamically resizeable.",
                   size, count);
  TRY(check_written(array, value.dtype()));
  std::int64_t at = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int64_t length = lengths.data<std::int64_t>()[i];
    TRY(array.write(i, value.rows(at, at + length)));
    at += length;
  }
  return absl::OkStatus();
}

}  // namespace

void add_tensor_array_batches(Registry& ops) {
  ops.add({"TensorArrayGather", "TensorArrayGatherV2", "TensorArrayGatherV3"},
          [](Call& call, Step&, Shared<TensorArray> array, In<std::int32_t> at, Attr<"dtype", DType> dtype,
             Attr<"element_shape", PartialShape> element) -> Status {
            TRY_ASSIGN(const Indices indices, indices_of(at.tensor));
            return gather(call, *array, indices, *dtype, *element);
          });
  ops.add("TensorArrayPack",
          [](Call& call, Step&, Shared<TensorArray> array, Attr<"dtype", DType> dtype, Attr<"element_shape", PartialShape> element) -> Status {
            TRY_ASSIGN(const Indices indices, all_indices(*array));
            return gather(call, *array, indices, *dtype, *element);
          });
  ops.add({"TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3"},
          [](Call& call, Step&, Shared<TensorArray> array, Attr<"dtype", DType> dtype, Attr<"element_shape_except0", PartialShape> rest) {
            return concat(call, *array, *dtype, *rest);
          });
  ops.add({"TensorArrayScatter", "TensorArrayScatterV2", "TensorArrayScatterV3"},
          [](Call& call, Step&, Shared<TensorArray> array, In<std::int32_t> at, Any value, Any flow) -> Status {
            TRY_ASSIGN(const Indices indices, indices_of(at.tensor));
            TRY(scatter(*array, indices, value.tensor, false));
            call.set(0, flow.tensor);
            return absl::OkStatus();
          });
  ops.add("TensorArrayUnpack", [](Call& call, Step&, Shared<TensorArray> array, Any value, Any flow) -> Status {
    TRY(scatter(*array, {}, value.tensor, true));
    call.set(0, flow.tensor);
    return absl::OkStatus();
  });
  ops.add({"TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3"},
          [](Call& call, Step&, Shared<TensorArray> array, Any value, In<std::int64_t> lengths, Any flow) -> Status {
            TRY(split(*array, value.tensor, lengths.tensor));
            call.set(0, flow.tensor);
            return absl::OkStatus();
          });
}

}  // namespace troupe
