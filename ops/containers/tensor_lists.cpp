// Ops on single elements of tensor lists.
#include <troupe/ops/containers/tensor_lists.hpp>

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>

#include <limits>

namespace troupe {

std::string show_variant(const Variant& variant) {
  return variant.value ? fmt::format("Variant<type: {} value: ?>", variant.value->type_name()) : "<unregistered>";
}

StatusOr<const TensorList*> list_at(const Call& call, int input) {
  const Tensor& t = call.in(input);
  if (t.dtype() != DType::variant) return detail::wrong_dtype(call, input, DType::variant);
  if (t.rank() != 0) return invalid("Input list must be a scalar saw: {}", t.shape());
  const TensorList* list = list_in(t.item<Variant>());
  if (!list) return invalid("Input handle is not a list. Saw: '{}'", show_variant(t.item<Variant>()));
  return list;
}

TensorList& list_to_change(Call& call, int input, int output) {
  Tensor& t = call.input_value(input).tensor;
  if (t.unique() && t.item<Variant>().value.use_count() == 1) {
    call.set(output, std::move(t));
    t = Tensor();
  } else {
    call.set(output, to_tensor(*list_in(t.item<Variant>())));
  }
  // Nobody else has it.
  return const_cast<TensorList&>(*list_in(call.out(output).item<Variant>()));
}

Status check_op_type(const TensorList& list, DType dtype) {
  if (list.dtype == dtype) return absl::OkStatus();
  return invalid("Invalid data types; op elements {} but list elements {}", name_of(dtype), name_of(list.dtype));
}

StatusOr<PartialShape> element_shape(const TensorList& list, const Tensor& shape) {
  TRY_ASSIGN(const PartialShape given, shape_from_tensor(shape));
  return merge_shapes(given, list.element);
}

StatusOr<Tensor> element_or_zeros(const TensorList& list, std::size_t i, const PartialShape& shape) {
  if (list.tensors[i].valid()) return list.tensors[i];
  PartialShape full = shape;
  // Elements of one list are alike where nothing else is known.
  for (const Tensor& t : list.tensors)
    if (!full.fully_known() && t.valid()) {
      TRY_ASSIGN(full, merge_shapes(full, PartialShape(t.shape())));
    }
  const auto known = full.known();
  if (!known) return invalid("Trying to read an uninitialized tensor but element_shape is not fully defined: {} and no list element is set.", full);
  return Tensor::zeros(list.dtype, *known);
}

Tensor shared_row(const Tensor& batch, std::int64_t i) {
  Shape shape = batch.shape();
  shape.remove_dim(0);
  return batch.rows(i, i + 1).reshaped(shape);
}

namespace {

StatusOr<TensorList> empty_list(DType dtype, const Tensor& shape) {
  TensorList list;
  list.dtype = dtype;
  TRY_ASSIGN(list.element, shape_from_tensor(shape));
  return list;
}

/// An element; the shape counts only for one that was never set.
StatusOr<Tensor> item_at(const TensorList& list, std::size_t i, const Tensor& shape) {
  if (list.tensors[i].valid()) return list.tensors[i];
  TRY_ASSIGN(const PartialShape element, element_shape(list, shape));
  return element_or_zeros(list, i, element);
}

Status push_back(Call& call, const TensorList& list, const Tensor& item, DType dtype) {
  if (dtype != item.dtype()) return invalid("Invalid data types; list elements {} but tried to append {}", name_of(dtype), name_of(item.dtype()));
  if (!list.element.compatible_with(item.shape()))
    return invalid("Tried to append a tensor with incompatible shape to a list. Op element shape: {} list shape: {}", item.shape(), list.element);
  TRY(check_op_type(list, dtype));
  if (list.most != -1 && static_cast<std::int64_t>(list.tensors.size()) >= list.most)
    return invalid("Tried to push item into a full list list size: {} max_num_elements: {}", list.tensors.size(), list.most);
  list_to_change(call, 0, 0).tensors.push_back(item);
  return absl::OkStatus();
}

Status set_item(Call& call, const TensorList& list, const Tensor& index, const Tensor& item, DType dtype, bool resize) {
  TRY(check_op_type(list, dtype));
  if (index.rank() != 0) return invalid("index must be a scalar, but got tensor of shape: {}", index.shape());
  const auto at = index.item<std::int32_t>();
  const auto size = static_cast<std::int64_t>(list.tensors.size());
  if (at < 0 || (at >= size && !resize)) return invalid("Trying to modify element {} in a list with {} elements.", at, size);
  if (!list.element.compatible_with(item.shape()))
    return invalid("Tried to set a tensor with incompatible shape at a list index. Item element shape: {} list shape: {}", item.shape(),
                   list.element);
  TensorList& changed = list_to_change(call, 0, 0);
  if (at >= size) changed.tensors.resize(static_cast<std::size_t>(at) + 1);
  changed.tensors[static_cast<std::size_t>(at)] = item;
  return absl::OkStatus();
}

template <class I>
Tensor shape_tensor(const PartialShape& shape) {
  if (shape.unknown_rank()) return Tensor::scalar<I>(I(-1));
  std::vector<I> dims;
  for (std::int64_t d : shape.dims()) dims.push_back(static_cast<I>(d));
  return Tensor::vector(dims);
}

}  // namespace

void add_tensor_lists(Registry& ops) {
  let_lists_travel();
  ops.add("EmptyTensorList", [](Call& call, Any shape, In<std::int32_t> most, Attr<"element_dtype", DType> dtype) -> Status {
    if (most.dims() != 0) return invalid("max_num_elements expected to be a scalar but got shape: {}", most.shape());
    TRY_ASSIGN(TensorList list, empty_list(*dtype, shape.tensor));
    list.most = most[0];
    call.set(0, to_tensor(std::move(list)));
    return absl::OkStatus();
  });
  ops.add("TensorListReserve", [](Call& call, Any shape, In<std::int32_t> size, Attr<"element_dtype", DType> dtype) -> Status {
    if (size.dims() != 0) return invalid("The num_elements to reserve must be a tensor size 1, but got {}", size.shape());
    if (size[0] < 0) return invalid("The num_elements to reserve must be a non negative number, but got {}", size[0]);
    TRY_ASSIGN(TensorList list, empty_list(*dtype, shape.tensor));
    list.tensors.resize(static_cast<std::size_t>(size[0]));
    call.set(0, to_tensor(std::move(list)));
    return absl::OkStatus();
  });
  ops.add("TensorListLength", [](Call& call, ListIn list) { call.set_scalar(0, static_cast<std::int32_t>(list->tensors.size())); });
  ops.add("TensorListElementShape", [](Call& call, ListIn list, Attr<"shape_type", DType> type) {
    call.set(0, *type == DType::i64 ? shape_tensor<std::int64_t>(list->element) : shape_tensor<std::int32_t>(list->element));
  });
  ops.add("TensorListResize", [](Call& call, ListIn, In<std::int32_t> size) -> Status {
    if (size.dims() != 0) return invalid("size must be a scalar");
    if (size[0] < 0) return invalid("TensorListSlice expects size to be non-negative. Got: {}", size[0]);
    list_to_change(call, 0, 0).tensors.resize(static_cast<std::size_t>(size[0]));
    return absl::OkStatus();
  });

  ops.add("TensorListPushBack",
          [](Call& call, ListIn list, Any item, Attr<"element_dtype", DType> dtype) { return push_back(call, list.list, item.tensor, *dtype); });
  ops.add("TensorListPopBack", [](Call& call, ListIn list, Any shape, Attr<"element_dtype", DType> dtype) -> Status {
    TRY(check_op_type(list.list, *dtype));
    if (list->tensors.empty()) return invalid("Trying to pop from an empty list.");
    TRY_ASSIGN(Tensor last, item_at(list.list, list->tensors.size() - 1, shape.tensor));
    call.set(1, std::move(last));
    list_to_change(call, 0, 0).tensors.pop_back();
    return absl::OkStatus();
  });
  ops.add("TensorListGetItem", [](Call& call, ListIn list, In<std::int32_t> index, Any shape, Attr<"element_dtype", DType> dtype) -> Status {
    TRY(check_op_type(list.list, *dtype));
    if (index.size() != 1) return invalid("index must be a scalar, but got tensor of shape: {}", index.shape());
    if (index[0] < 0 || static_cast<std::size_t>(index[0]) >= list->tensors.size())
      return invalid("Trying to access element {} in a list with {} elements.", index[0], list->tensors.size());
    TRY_ASSIGN(Tensor item, item_at(list.list, static_cast<std::size_t>(index[0]), shape.tensor));
    call.set(0, std::move(item));
    return absl::OkStatus();
  });
  ops.add("TensorListSetItem",
          [](Call& call, ListIn list, In<std::int32_t> index, Any item, Attr<"element_dtype", DType> dtype,
             Attr<"resize_if_index_out_of_bounds", bool> resize) { return set_item(call, list.list, index.tensor, item.tensor, *dtype, *resize); });
}

}  // namespace troupe
