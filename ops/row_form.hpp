// Kernels that make every element of their output of those in the same place of their inputs say so with a row form.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <cstdint>

namespace troupe {

/// n elements of the output. An input that `repeats` is one element that serves for all; y is not looked at where there is one input.
/// The output is apart from the inputs, or in the very place of one that does not repeat.
using RowFunction = void (*)(const void* context, const void* x, bool x_repeats, const void* y, bool y_repeats, void* out, std::int64_t n);

/// None where `function` is null.
struct RowForm {
  RowFunction function = nullptr;
  const void* context = nullptr;  // handed to the function; lives for ever
  int inputs = 0;                 // 1 or 2
  DType in{}, out{};              // of all inputs; of the output
  bool broadcasts = true;         // inputs may be of different shapes
};

}  // namespace troupe
