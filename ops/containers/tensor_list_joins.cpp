// Tensor lists joined and split: concatenation of elements and of lists, sums, zeros.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/containers/tensor_lists.hpp>
#include <troupe/ops/containers/variant_arithmetic.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>
#include <troupe/ops/resources/rows.hpp>

namespace troupe {
namespace {

/// What concat knows of its elements' shape but for the first dimension.
StatusOr<PartialShape> tail_of(const TensorList& list, const PartialShape& element) {
  PartialShape tail = without_first(element);
  for (const Tensor& t : list.tensors) {
    if (tail.fully_known()) break;
    if (!t.valid()) continue;
    if (t.rank() == 0) return invalid("Concat saw a scalar shape at index 0 but requires at least vectors.");
    TRY_ASSIGN(tail, merge_shapes(tail, without_first(PartialShape(t.shape()))));
  }
  if (!tail.fully_known())
    return invalid("All except the first dimension must be fully defined when concating an empty tensor list. element_shape: {}", element);
  return tail;
}

Status concat(Call& call, const TensorList& list, PartialShape element, const Tensor* leading, DType dtype) {
  if (list.dtype != dtype) return invalid("Invalid data types; op elements {} but list elements {}", name_of(dtype), name_of(list.dtype));
  TRY_ASSIGN(element, merge_shapes(element, list.element));
  if (element.rank() == 0 && !leading)
    return invalid("Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully defined: {}",
                   PartialShape());
  if (element.rank() == 0) return invalid("Concat requires elements to be at least vectors, found scalars instead.");
  TRY_ASSIGN(const PartialShape tail, tail_of(list, element));
  const auto rest = tail.known();
  const std::int64_t first = element.rank() > 0 ? element.dim(0) : -1;
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    const Tensor& t = list.tensors[i];
    std::int64_t length = 0;
    if (t.valid()) {
      if (t.rank() == 0) return invalid("Concat saw a scalar shape at index {} but requires at least vectors.", i);
      Shape own = t.shape();
      own.remove_dim(0);
      if (own != *rest) return invalid("Tried to concat tensors with unequal shapes: {} vs {}", PartialShape(*rest), own);
      length = t.dim(0);
    } else if (leading && i < static_cast<std::size_t>(leading->size())) {
      length = leading->data<std::int64_t>()[i];
    } else if (leading && (leading->size() > 0 || first < 0)) {
      return invalid("List contains uninitialized tensor at index {} but leading_dims has only {} elements.", i, leading->size());
    } else {
      if (first < 0) return invalid("Tried to concat list with uninitialized tensors and a non-fully-defined element_shape: {}", element);
      length = first;
    }
    if (length < 0) return invalid("A leading dimension must not be negative, got {}", length);
    lengths.push_back(length);
    total += length;
  }
  Shape shape = *rest;
  shape.insert_dim(0, total);
  TRY_ASSIGN(const Shape checked, Shape::checked(shape.dims()));
  Tensor out = Tensor::zeros(dtype, checked);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    if (list.tensors[i].valid()) copy_elements(list.tensors[i], 0, out, at, list.tensors[i].size());
    at += lengths[i] * rest->elements();
  }
  call.set(0, std::move(out));
  call.set(1, Tensor::vector(lengths));
  return absl::OkStatus();
}

Status split(Call& call, const Tensor& t, const Tensor& shape, const Tensor& lengths) {
  TensorList list;
  list.dtype = t.dtype();
  TRY_ASSIGN(list.element, shape_from_tensor(shape));
  if (list.element.rank() == 0) return invalid("TensorListSplit requires element_shape to be at least of rank 1, but saw: {}", list.element);
  if (t.rank() == 0) return invalid("Tensor must be at least a vector, but saw shape: {}", t.shape());
  if (lengths.rank() != 1) return invalid("Expected lengths to be a vector, received shape: {}", lengths.shape());
  const PartialShape tail = without_first(list.element);
  if (list.element.rank() > 0 && !tail.compatible_with(Shape(t.shape().dims().subspan(1))))
    return invalid("tensor shape {} is not compatible with element_shape {}", t.shape(), list.element);
  std::int64_t at = 0;
  for (std::int64_t length : lengths.values<std::int64_t>()) {
    if (length < 0) return invalid("Invalid value in lengths: {}", length);
    if (length > t.dim(0) - at) return invalid("Attempting to slice [{}, {}] from tensor with length {}", at, at + length, t.dim(0));
    list.tensors.push_back(t.rows(at, at + length));
    at += length;
  }
  if (at != t.dim(0)) return invalid("Unused values in tensor. Length of tensor: {} Values used: {}", t.dim(0), at);
  call.set(0, to_tensor(std::move(list)));
  return absl::OkStatus();
}

StatusOr<const TensorList*> list_in_row(const Tensor& t, std::int64_t i, const char* what) {
  if (t.dtype() != DType::variant) return invalid("{} is not a variant", what);
  const TensorList* list = list_in(t.data<Variant>()[i]);
  if (!list) return invalid("{} is not a TensorList at index {}.  Saw: '{}'", what, i, show_variant(t.data<Variant>()[i]));
  return list;
}

Status concat_lists(Call& call, const Tensor& a, const Tensor& b, DType dtype) {
  if (a.shape() != b.shape()) return invalid("Incompatible input TensorList tensor shapes: {} vs. {}", a.shape(), b.shape());
  Tensor out(DType::variant, a.shape());
  for (std::int64_t i = 0; i < a.size(); ++i) {
    TRY_ASSIGN(const TensorList* x, list_in_row(a, i, "input_a"));
    TRY_ASSIGN(const TensorList* y, list_in_row(b, i, "input_b"));
    for (const auto& [which, list] : {std::pair{'a', x}, {'b', y}})
      if (list->dtype != dtype)
        return invalid("input_{}[{}].dtype != element_dtype.  Saw: {} vs. {}", which, i, name_of(list->dtype), name_of(dtype));
    if (x->element != y->element)
      return invalid("input_a and input_b TensorList element shapes are not identical at index {}.  Saw {} vs. {}", i, x->element, y->element);
    auto joined = std::make_shared<TensorList>(*x);
    joined->tensors.insert(joined->tensors.end(), y->tensors.begin(), y->tensors.end());
    out.mutable_data<Variant>()[i].value = std::move(joined);
  }
  call.set(0, std::move(out));
  return absl::OkStatus();
}

Status push_back_batch(Call& call, const Tensor& lists, const Tensor& t, DType dtype) {
  if (t.dtype() != dtype) return invalid("Invalid data types; list elements {} but tried to append {}", name_of(dtype), name_of(t.dtype()));
  if (t.rank() == 0) return invalid("Expected tensor to be at least a vector, but saw shape: {}", t.shape());
  if (lists.rank() != 1) return invalid("Expected input_handles to be a vector, but saw shape: {}", lists.shape());
  if (t.dim(0) != lists.size()) return invalid("Expected tensor.shape[0] == input_handles.size, but saw {} vs. {}", t.dim(0), lists.size());
  Shape row = t.shape();
  row.remove_dim(0);
  Tensor out(DType::variant, lists.shape());
  for (std::int64_t i = 0; i < lists.size(); ++i) {
    const TensorList* list = list_in(lists.data<Variant>()[i]);
    if (!list) return invalid("Input handle at index {} is not a list. Saw: '{}'", i, show_variant(lists.data<Variant>()[i]));
    if (!list->element.compatible_with(row))
      return invalid("Tried to append a tensor with incompatible shape to a list at index {}. Op element shape: {} list shape: {}", i, row,
                     list->element);
    if (list->dtype != dtype)
      return invalid("Invalid data type at index {}; op elements {} but list elements {}", i, name_of(dtype), name_of(list->dtype));
    auto longer = std::make_shared<TensorList>(*list);
    longer->tensors.push_back(row_of(t, i));
    out.mutable_data<Variant>()[i].value = std::move(longer);
  }
  call.set(0, std::move(out));
  return absl::OkStatus();
}

StatusOr<Tensor> add(const Tensor& a, const Tensor& b, std::size_t position) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  if (a.shape() != b.shape())
    return invalid("Trying to add two tensors with incompatible element shapes. One is {} and the other is {} in position {}", a.shape(), b.shape(),
                   position);
  return add_tensors(a, b);
}

StatusOr<TensorList> add(const TensorList& a, const TensorList& b) {
  if (a.dtype != b.dtype)
    return invalid("Trying to add two lists of tensors of different dtypes. One is {} and the other is {}", name_of(a.dtype), name_of(b.dtype));
  TensorList sum = a;
  auto shape = merge_shapes(a.element, b.element);
  if (!shape.ok())
    return invalid("Trying to add two lists of tensors with incompatible element shapes. One is {} and the other is {}", a.element, b.element);
  sum.element = *shape;
  if (a.tensors.size() != b.tensors.size())
    return invalid("Trying to add two lists of tensors with different lengths. One is {} and the other is {}", a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    TRY_ASSIGN(sum.tensors[i], add(a.tensors[i], b.tensors[i], i));
  }
  return sum;
}

VariantResult zeros_of_list(const VariantValue& value) {
  auto zeros = std::make_shared<TensorList>(static_cast<const TensorList&>(value));
  for (Tensor& t : zeros->tensors)
    if (t.valid()) {
      TRY_ASSIGN(t, zeros_like(t));
    }
  return zeros;
}

VariantResult sum_of_lists(const VariantValue& a, const VariantValue& b) {
  TRY_ASSIGN(TensorList sum, add(static_cast<const TensorList&>(a), static_cast<const TensorList&>(b)));
  return std::make_shared<TensorList>(std::move(sum));
}

}  // namespace

void add_tensor_list_joins(Registry& ops) {
  ops.add("TensorListConcat", [](Call& call, ListIn list, Attr<"element_dtype", DType> dtype, Attr<"element_shape", PartialShape> shape) {
    return concat(call, list.list, *shape, nullptr, *dtype);
  });
  ops.add("TensorListConcatV2", [](Call& call, ListIn list, Any shape, In<std::int64_t> leading, Attr<"element_dtype", DType> dtype) -> Status {
    TRY_ASSIGN(const PartialShape element, shape_from_tensor(shape.tensor));
    return concat(call, list.list, element, &leading.tensor, *dtype);
  });
  ops.add("TensorListSplit",
          [](Call& call, Any t, Any shape, In<std::int64_t> lengths) { return split(call, t.tensor, shape.tensor, lengths.tensor); });
  ops.add("TensorListConcatLists",
          [](Call& call, Any a, Any b, Attr<"element_dtype", DType> dtype) { return concat_lists(call, a.tensor, b.tensor, *dtype); });
  ops.add("TensorListPushBackBatch", [](Call& call, In<Variant> lists, Any t, Attr<"element_dtype", DType> dtype) {
    return push_back_batch(call, lists.tensor, t.tensor, *dtype);
  });
  let_compute("tensorflow::TensorList", {.zeros = zeros_of_list, .add = sum_of_lists});
}

}  // namespace troupe
