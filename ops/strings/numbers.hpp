// Numbers read from text as TensorFlow reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe {

/// Decimal digits with an optional minus sign; white space around is ignored. Nothing when it is no such number or does not fit.
template <class Int>
std::optional<Int> parse_integer(std::string_view text);
/// Decimal, "inf", "nan" or a hexadecimal integer; white space around is ignored, white space alone is zero.
template <class Float>
std::optional<Float> parse_float(std::string_view text);

/// Without white space at either end.
std::string_view stripped(std::string_view text);

}  // namespace troupe
