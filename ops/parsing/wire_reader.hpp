// The wire format of protobufs, read in place: examples are parsed in bulk, and messages made of them would cost more than their content.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace troupe {

constexpr std::uint8_t varint_tag(int field) { return static_cast<std::uint8_t>(field << 3); }
constexpr std::uint8_t delimited_tag(int field) { return static_cast<std::uint8_t>(field << 3 | 2); }
constexpr std::uint8_t fixed32_tag(int field) { return static_cast<std::uint8_t>(field << 3 | 5); }

/// Reads from the front of bytes that somebody else keeps. False means that they are not what is asked for.
class WireReader {
 public:
  WireReader() = default;
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t size() const { return rest_.size(); }
  const char* data() const { return rest_.data(); }
  std::uint8_t peek() const { return rest_.empty() ? 0 : static_cast<std::uint8_t>(rest_[0]); }

  bool expect(std::uint8_t tag) {
    if (rest_.empty() || peek() != tag) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (std::size_t i = 0; i < 10 && i < rest_.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(rest_[i]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }
  bool length(std::uint32_t& n) {
    std::uint64_t wide = 0;
    if (!varint(wide)) return false;
    n = static_cast<std::uint32_t>(wide);
    return true;
  }
  bool fixed32(float& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return true;
  }
  /// A length and that many bytes.
  bool bytes(std::string_view& out) {
    std::uint32_t n = 0;
    if (!length(n) || n > rest_.size()) return false;
    out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return true;
  }
  /// A length and that many bytes, or as many as there are: TensorFlow takes a length beyond the end for the end.
  bool part(WireReader& out) {
    std::uint32_t n = 0;
    if (!length(n)) return false;
    out = WireReader(rest_.substr(0, n));
    rest_.remove_prefix(out.size());
    return true;
  }
  /// Leaves out a field of any number; groups are not known.
  bool skip_field();

 private:
  std::string_view rest_;
};

inline bool WireReader::skip_field() {
  std::uint64_t tag = 0, value = 0;
  float word = 0;
  WireReader ignored;
  if (!varint(tag)) return false;
  switch (tag & 7) {
    case 0: return varint(value);
    case 1: return fixed32(word) && fixed32(word);
    case 2: return part(ignored);
    case 5: return fixed32(word);
    default: return false;
  }
}

/// Where read_list puts values: room for a known number, more are only counted.
template <class T>
struct IntoArray {
  using value_type = T;
  T* to;
  std::int64_t room;
  std::int64_t count = 0;

  bool full() const { return count >= room; }
  std::int64_t fitting(std::int64_t n) const { return full() ? 0 : std::min(n, room - count); }
  void put(T value) {
    if (!full()) to[count] = std::move(value);
    ++count;
  }
  void put_raw(const char* from, std::int64_t n) {
    if (fitting(n) > 0) std::memcpy(to + count, from, static_cast<std::size_t>(fitting(n)) * sizeof(T));
    count += n;
  }
};

/// Where read_list puts values: any number.
template <class T>
struct IntoVector {
  using value_type = T;
  std::vector<T>& to;

  bool full() const { return false; }
  std::int64_t fitting(std::int64_t n) const { return n; }
  void put(T value) { to.push_back(std::move(value)); }
  void put_raw(const char* from, std::int64_t n) {
    const std::size_t at = to.size();
    to.resize(at + static_cast<std::size_t>(n));
    if (n > 0) std::memcpy(to.data() + at, from, static_cast<std::size_t>(n) * sizeof(T));
  }
};

/// The values of a BytesList, FloatList or Int64List that stands with its length at the front of `feature`.
template <class Sink>
bool read_list(WireReader feature, Sink& sink) {
  using T = typename Sink::value_type;
  WireReader list;
  if (!feature.part(list)) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    while (!list.at_end()) {
      std::string_view text;
      if (!list.expect(delimited_tag(1)) || sink.full() || !list.bytes(text)) return false;
      sink.put(std::string(text));
    }
    return true;
  } else {
    constexpr bool is_float = std::is_same_v<T, float>;
    constexpr std::uint8_t one = is_float ? fixed32_tag(1) : varint_tag(1);
    const auto next = [&](WireReader& from) {
      if constexpr (is_float) {
        float value = 0;
        if (!from.fixed32(value)) return false;
        sink.put(value);
      } else {
        std::uint64_t value = 0;
        if (!from.varint(value)) return false;
        sink.put(static_cast<std::int64_t>(value));
      }
      return true;
    };
    if (list.at_end()) return true;
    if (list.expect(delimited_tag(1))) {
      if constexpr (is_float) {
        std::uint32_t length = 0;
        if (!list.length(length)) return false;
        const std::int64_t n = length / 4;
        if (static_cast<std::uint64_t>(sink.fitting(n)) * 4 > list.size()) return false;
        sink.put_raw(list.data(), n);
      } else {
        WireReader packed;
        if (!list.part(packed)) return false;
        while (!packed.at_end())
          if (!next(packed)) return false;
      }
      return true;
    }
    if (list.peek() != one) return false;
    while (!list.at_end())
      if (!list.expect(one) || !next(list)) return false;
    return true;
  }
}

}  // namespace troupe
