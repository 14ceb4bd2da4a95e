// Code points in UTF-8 text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Anything that does not begin a character is counted as one: bytes that continue one are not.
constexpr bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// What stands at the front of a text: a code point, or -1 for bytes that are no character, and how many bytes it takes (at least one).
struct Utf8Front {
  std::int32_t code = -1;
  std::size_t size = 1;
};
/// The text is not empty. Bytes that cannot be part of one character are told apart as Unicode recommends.
Utf8Front utf8_front(std::string_view text);

/// Code points that are none are written as the replacement character.
void append_utf8(std::string& out, std::int32_t code);

/// A code point that may stand in text: no surrogate, not beyond the last.
constexpr bool is_character(std::int32_t code) { return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff); }

}  // namespace troupe
