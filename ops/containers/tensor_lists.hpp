// What the ops on tensor lists share.
#pragma once

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/tensor_list.hpp>

namespace troupe {

/// A parameter: an input that is a scalar variant with a list in it.
struct ListIn {
  const TensorList& list;
  int index;
  const TensorList* operator->() const { return &list; }
};
StatusOr<const TensorList*> list_at(const Call& call, int input);

template <>
struct Param<ListIn> : InputParam {
  static Status check(int at, Call& call) { return list_at(call, at).status(); }
  static ListIn get(int at, Call& call) { return {**list_at(call, at), at}; }
};

/// The list of an input to be changed: itself where nobody else has it, otherwise a copy. The output takes it over.
TensorList& list_to_change(Call& call, int input, int output);

/// What the op says elements are must be what the list has.
Status check_op_type(const TensorList& list, DType dtype);
/// The shape of elements by the op's input and the list together.
StatusOr<PartialShape> element_shape(const TensorList& list, const Tensor& shape);
/// An element; zeros where it was never set, which takes a known shape.
StatusOr<Tensor> element_or_zeros(const TensorList& list, std::size_t i, const PartialShape& shape);
/// Row i of a batch, sharing its memory.
Tensor shared_row(const Tensor& batch, std::int64_t i);
/// Tells the wire how a list is written and read.
void let_lists_travel();

}  // namespace troupe
