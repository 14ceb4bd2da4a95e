// Reading of numbers, independent of locale.
#include <troupe/ops/strings/numbers.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace troupe {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool same_letters(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y; });
}

/// Digits with at most one point among them, and an exponent with digits.
bool is_decimal(std::string_view text) {
  std::size_t i = 0, digits = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) ++digits;
  if (i < text.size() && text[i] == '.')
    for (++i; i < text.size() && is_digit(text[i]); ++i) ++digits;
  if (digits == 0) return false;
  if (i == text.size()) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  ++i;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  return i < text.size() && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), is_digit);
}

template <class Float>
Float decimal(std::string_view text) {
  Float value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec == std::errc()) return value;
  // Too large or too small: which of them, the other function says.
  const std::string copy(text);
  return sizeof(Float) == 4 ? static_cast<Float>(std::strtof(copy.c_str(), nullptr)) : static_cast<Float>(std::strtod(copy.c_str(), nullptr));
}

template <class Float>
std::optional<Float> hexadecimal(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  Float value = 0;
  for (char c : digits) {
    const int d = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (d < 0) return std::nullopt;
    value = value * 16 + static_cast<Float>(d);
  }
  return value;
}

template <class Float>
std::optional<Float> magnitude(std::string_view text) {
  if (same_letters(text, "inf")) return std::numeric_limits<Float>::infinity();
  if (same_letters(text, "nan")) return std::numeric_limits<Float>::quiet_NaN();
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return hexadecimal<Float>(text.substr(2));
  if (!is_decimal(text)) return std::nullopt;
  return decimal<Float>(text);
}

}  // namespace

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

template <class Int>
std::optional<Int> parse_integer(std::string_view text) {
  text = stripped(text);
  Int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Float>
std::optional<Float> parse_float(std::string_view text) {
  if (text.empty()) return std::nullopt;
  text = stripped(text);
  if (text.empty()) return Float(0);
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  const auto value = magnitude<Float>(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

template std::optional<std::int32_t> parse_integer<std::int32_t>(std::string_view);
template std::optional<std::int64_t> parse_integer<std::int64_t>(std::string_view);
template std::optional<float> parse_float<float>(std::string_view);
template std::optional<double> parse_float<double>(std::string_view);

}  // namespace troupe
