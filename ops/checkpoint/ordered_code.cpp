// Ordered encodings.
#include <troupe/ops/checkpoint/ordered_code.hpp>

#include <bit>

namespace troupe {

void append_ordered(std::string_view text, std::string& to) {
  // Zero and 255 are escaped, so that the two bytes at the end sort before anything else.
  for (const char c : text) {
    to += c;
    if (c == '\0') to += '\xff';
    if (c == '\xff') to += '\0';
  }
  to += '\0';
  to += '\1';
}

void append_ordered_unsigned(std::uint64_t number, std::string& to) {
  const int bytes = (std::bit_width(number) + 7) / 8;
  to += static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(number >> (8 * i));
}

void append_ordered_signed(std::int64_t number, std::string& to) {
  // As many bytes as the number needs with one bit for its sign and one for each byte: that many ones in front, all inverted for negative
  // numbers.
  const std::uint64_t magnitude = number < 0 ? ~static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  const int length = std::bit_width(magnitude) / 7 + 1;
  std::string bytes;
  for (int i = length - 1; i >= 0; --i) bytes += i < 8 ? static_cast<char>(number >> (8 * i)) : (number < 0 ? '\xff' : '\0');
  int ones = length;
  for (std::size_t i = 0; ones > 0; ++i) {
    const int here = ones < 8 ? ones : 8;
    const auto mask = static_cast<unsigned char>(0xff00U >> here);
    bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ mask);
    ones -= here;
  }
  to += bytes;
}

std::string slice_key(const std::string& name, const TensorSlice& slice) {
  std::string key;
  append_ordered_unsigned(0, key);
  append_ordered(name, key);
  append_ordered_unsigned(static_cast<std::uint64_t>(slice.rank()), key);
  for (const auto& e : slice.extents()) {
    append_ordered_signed(e.start, key);
    append_ordered_signed(e.length, key);
  }
  return key;
}

}  // namespace troupe
