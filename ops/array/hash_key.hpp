// Elements as keys of hash tables: equal elements have equal keys.
#pragma once

#include <troupe/messaging/dtype.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace troupe {

template <class T>
auto hash_key(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) return std::string_view(value);
  else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) return static_cast<float>(value);
  else return value;
}

template <class T>
using HashKey = decltype(hash_key(std::declval<T>()));

template <class T>
std::size_t hash_of(const T& value) {
  // The standard hash of integers is the integer: spread it, for tables whose keys share low bits.
  return std::hash<HashKey<T>>{}(hash_key(value)) * 0x9e3779b97f4a7c15ULL;
}

/// What unique, list differences and the like are made for: numbers that are equal or not, and strings.
using hashable_types = joined<reals, types<std::string>>;

}  // namespace troupe
