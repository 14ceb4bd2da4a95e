// Ops that turn tensor lists into tensors and tensors into lists.
#include <troupe/ops/containers/tensor_lists.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>
#include <troupe/ops/resources/rows.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

namespace troupe {
namespace {

Shape without_first(const Shape& shape) {
  Shape rest = shape;
  rest.remove_dim(0);
  return rest;
}

/// The known shape of the elements that are wanted: by what is said of it, and by what is there.
StatusOr<Shape> shape_of_elements(const TensorList& list, PartialShape shape, const char* doing) {
  if (!shape.fully_known() && list.tensors.empty())
    return invalid("Tried to {} elements of an empty list with non-fully-defined element_shape: {}", doing, shape);
  if (!shape.fully_known()) {
    for (const Tensor& t : list.tensors)
      if (t.valid()) {
        TRY_ASSIGN(shape, merge_shapes(shape, PartialShape(t.shape())));
      }
  }
  const auto known = shape.known();
  if (!known && doing == std::string_view("gather"))
    return invalid("Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: {}", shape);
  if (!known)
    return invalid("Tried to {} list which only contains uninitialized tensors and has a non-fully-defined element_shape: {}", doing, shape);
  return *known;
}

/// Elements under each other; zeros for those that were never set.
Status stack(Call& call, const TensorList& list, const std::vector<std::int32_t>* indices, const Tensor& shape_input, DType dtype) {
  TRY(check_op_type(list, dtype));
  TRY_ASSIGN(const PartialShape wanted, element_shape(list, shape_input));
  TRY_ASSIGN(const Shape element, shape_of_elements(list, wanted, indices ? "gather" : "stack"));
  const std::size_t n = indices ? indices->size() : list.tensors.size();
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t at = indices ? (*indices)[i] : static_cast<std::int64_t>(i);
    if (at < 0 || at >= static_cast<std::int64_t>(list.tensors.size()))
      return invalid("Index {} out o range; list only has {} elements.", at, list.tensors.size());
    const Tensor& t = list.tensors[static_cast<std::size_t>(at)];
    if (t.valid() && t.shape() != element)
      return invalid("Tensor with invalid shape in list. List element shape: {} and tensor shape: {}", PartialShape(element), t.shape());
    rows.push_back(t.valid() ? t : Tensor::zeros(dtype, element));
  }
  call.set(0, stack_rows(dtype, element, rows));
  return absl::OkStatus();
}

Status check_rows(const Tensor& t, const PartialShape& element) {
  if (t.rank() == 0) return invalid("Tensor must be at least a vector, but saw shape: {}", t.shape());
  if (const Shape row = without_first(t.shape()); !element.compatible_with(row))
    return invalid("Specified a list with shape {} from a tensor with shape {}", element, row);
  return absl::OkStatus();
}

Status scatter(TensorList& list, const Tensor& t, const Tensor& indices) {
  const auto at = indices.values<std::int32_t>();
  std::int32_t largest = -1;
  for (std::int32_t i : at) {
    if (i < 0) return invalid("Indices in TensorListScatter must all be non-negative.");
    largest = std::max(largest, i);
  }
  if (static_cast<std::int64_t>(at.size()) != t.dim(0))
    return invalid("Invalid number of rows in input tensor. Expected: {} Actual: {}", at.size(), t.dim(0));
  if (largest >= static_cast<std::int64_t>(list.tensors.size())) list.tensors.resize(static_cast<std::size_t>(largest) + 1);
  for (std::size_t i = 0; i < at.size(); ++i) list.tensors[static_cast<std::size_t>(at[i])] = shared_row(t, static_cast<std::int64_t>(i));
  return absl::OkStatus();
}

Status scatter_new(Call& call, const Tensor& t, const Tensor& indices, const Tensor& shape, std::int64_t size) {
  TensorList list;
  list.dtype = t.dtype();
  if (shape.rank() > 1) return invalid("TensorListScatter: element_shape must be at most rank 1 but has the shape of {}", shape.shape());
  TRY_ASSIGN(list.element, shape_from_tensor(shape));
  TRY(check_rows(t, list.element));
  if (indices.rank() != 1) return invalid("indices must be a vector, got shape {}", indices.shape());
  if (size < -1) return invalid("TensorListScatter expects num_elements >= -1, found: {}", size);
  if (size >= 0) {
    for (std::int32_t i : indices.values<std::int32_t>())
      if (i >= size) return invalid("TensorListScatter: Trying to scatter at index {} in list with size {}", i, size);
    list.tensors.resize(static_cast<std::size_t>(size));
  }
  TRY(scatter(list, t, indices));
  call.set(0, to_tensor(std::move(list)));
  return absl::OkStatus();
}

Status scatter_into(Call& call, const TensorList& list, const Tensor& t, const Tensor& indices, DType dtype) {
  if (list.dtype != dtype) return invalid("Invalid data types; input tensor type: {} list element_type: {}", name_of(dtype), name_of(list.dtype));
  TRY(check_rows(t, list.element));
  if (indices.rank() != 1) return invalid("indices must be a vector, got shape {}", indices.shape());
  if (indices.size() != t.dim(0)) return invalid("Expected len(indices) == tensor.shape[0], but saw: {} vs. {}", indices.size(), t.dim(0));
  for (std::int32_t i : indices.values<std::int32_t>())
    if (i < 0) return invalid("Indices in TensorListScatter must all be non-negative.");
  return scatter(list_to_change(call, 0, 0), t, indices);
}

Status from_tensor(Call& call, const Tensor& t, const Tensor& shape) {
  TensorList list;
  list.dtype = t.dtype();
  if (shape.rank() > 1) return invalid("TensorListFromTensor: element_shape must be at most rank 1 but has the shape of {}", shape.shape());
  TRY_ASSIGN(list.element, shape_from_tensor(shape));
  TRY(check_rows(t, list.element));
  for (std::int64_t i = 0; i < t.dim(0); ++i) list.tensors.push_back(shared_row(t, i));
  call.set(0, to_tensor(std::move(list)));
  return absl::OkStatus();
}

}  // namespace

void add_tensor_list_batches(Registry& ops) {
  ops.add("TensorListStack",
          [](Call& call, ListIn list, Any shape, Attr<"element_dtype", DType> dtype, Attr<"num_elements", std::int64_t> size) -> Status {
            TRY(check_op_type(list.list, *dtype));
            if (*size != -1 && *size != static_cast<std::int64_t>(list->tensors.size()))
              return invalid("Operation expected a list with {} elements but got a list with {} elements.", *size, list->tensors.size());
            return stack(call, list.list, nullptr, shape.tensor, *dtype);
          });
  ops.add("TensorListGather", [](Call& call, ListIn list, In<std::int32_t> at, Any shape, Attr<"element_dtype", DType> dtype) {
    const std::vector<std::int32_t> indices(at.values().begin(), at.values().end());
    return stack(call, list.list, &indices, shape.tensor, *dtype);
  });
  ops.add("TensorListFromTensor", [](Call& call, Any t, Any shape) { return from_tensor(call, t.tensor, shape.tensor); });
  ops.add("TensorListScatter",
          [](Call& call, Any t, In<std::int32_t> indices, Any shape) { return scatter_new(call, t.tensor, indices.tensor, shape.tensor, -1); });
  ops.add("TensorListScatterV2", [](Call& call, Any t, In<std::int32_t> indices, Any shape, In<std::int32_t> size) -> Status {
    if (size.size() != 1) return invalid("num_elements must be a scalar, got shape {}", size.shape());
    return scatter_new(call, t.tensor, indices.tensor, shape.tensor, size[0]);
  });
  ops.add("TensorListScatterIntoExistingList", [](Call& call, ListIn list, Any t, In<std::int32_t> indices, Attr<"element_dtype", DType> dtype) {
    return scatter_into(call, list.list, t.tensor, indices.tensor, *dtype);
  });
}

}  // namespace troupe
