// Tensors as text, as TensorFlow prints them in messages.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// The first `limit` values (all when negative), "..." standing for the rest: "[0 1 2][3...]...".
std::string summarize(const Tensor& tensor, std::int64_t limit);
/// As NumPy lays it out, with `ends` values shown at either end of each dimension (all when negative).
std::string summarize_nested(const Tensor& tensor, std::int64_t ends);
/// "Tensor<type: int32 shape: [2] values: 1 2>".
std::string describe(const Tensor& tensor);

/// The shortest decimal text that reads back as the same number.
std::string shortest(float x);
std::string shortest(double x);
/// Quotes, backslashes and control characters escaped as in C; other bytes as they are.
std::string escaped(std::string_view text);

}  // namespace troupe
