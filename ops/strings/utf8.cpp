// UTF-8, read and written.
#include <troupe/ops/strings/utf8.hpp>

namespace troupe {
namespace {

/// Which second bytes may follow a first one; the others that continue a character may be any.
bool may_follow(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;
    case 0xed: return second >= 0x80 && second <= 0x9f;
    case 0xf0: return second >= 0x90 && second <= 0xbf;
    case 0xf4: return second >= 0x80 && second <= 0x8f;
    default: return second >= 0x80 && second <= 0xbf;
  }
}

}  // namespace

Utf8Front utf8_front(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (size == 0) return {-1, 1};
  std::int32_t code = first & (0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const bool fits = i < text.size() && (i == 1 ? may_follow(first, byte(1)) : continues_character(text[i]));
    if (!fits) return {-1, i};
    code = (code << 6) | (byte(i) & 0x3f);
  }
  return {code, size};
}

void append_utf8(std::string& out, std::int32_t code) {
  if (!is_character(code)) code = 0xfffd;
  const auto add = [&](int bits) { out += static_cast<char>(bits); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    add(0xe0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3f));
  } else {
    add(0xf0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3f));
    add(0x80 | ((code >> 6) & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace troupe
