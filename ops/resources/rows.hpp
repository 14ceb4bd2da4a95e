// Rows of tensors: taken out of a batch, put together to one.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <vector>

namespace troupe {

/// What a queue's element or a step's arguments are: tensors by component.
using Tuple = std::vector<Tensor>;

/// Row i of the first dimension, in memory of its own.
Tensor row_of(const Tensor& batch, std::int64_t i);
/// Copies elements: `count` of them, from one place to another of the same type.
void copy_elements(const Tensor& from, std::int64_t first, Tensor& to, std::int64_t at, std::int64_t count);
/// Tensors of one type and shape under each other; `element` gives the shape where there are none.
Tensor stack_rows(DType dtype, const Shape& element, const std::vector<Tensor>& rows);
/// The same for rows of one rank that differ in size: each is filled up with zeros or empty strings to the largest.
Tensor stack_padded(DType dtype, const Shape& largest, const std::vector<Tensor>& rows);

}  // namespace troupe
