// Base64 as ops.
#include <troupe/ops/strings/base64.hpp>

#include <troupe/ops/kernel.hpp>

#include <array>
#include <cstdint>

namespace troupe {
namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::int8_t, 256> digits = [] {
  std::array<std::int8_t, 256> all{};
  all.fill(-1);
  for (int i = 0; i < 64; ++i) all[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return all;
}();

/// Adds the bytes of two to four characters; false when one is none of the alphabet.
bool decode_group(std::string_view group, std::string& out) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int digit = i < group.size() ? digits[static_cast<unsigned char>(group[i])] : 0;
    if (digit < 0) return false;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
  }
  for (std::size_t i = 0; i + 1 < group.size(); ++i) out += static_cast<char>((bits >> (16 - 8 * i)) & 0xff);
  return true;
}

}  // namespace

std::string encode_base64(std::string_view bytes, bool pad) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = (bits << 8) | (i < n ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i <= n; ++i) out += alphabet[(bits >> (18 - 6 * i)) & 63];
    if (pad) out.append(3 - n, '=');
  }
  return out;
}

StatusOr<std::string> decode_base64(std::string_view text) {
  std::string out;
  for (; text.size() > 4; text.remove_prefix(4))
    if (!decode_group(text.substr(0, 4), out)) return invalid("Invalid character found in base64.");
  // Only a whole last group may be padded.
  if (text.size() == 4 && text[3] == '=') text.remove_suffix(text[2] == '=' ? 2 : 1);
  if (text.size() == 1) return invalid("Base64 string length cannot be 1 modulo 4.");
  if (!decode_group(text, out)) return invalid("Invalid character found in base64.");
  return out;
}

void add_base64(Registry& ops) {
  ops.add("EncodeBase64", [](Call& call, In<std::string> x, Attr<"pad", bool> pad) {
    std::string* out = call.alloc<std::string>(0, x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) out[i] = encode_base64(x[i], *pad);
  });
  ops.add("DecodeBase64", [](Call& call, In<std::string> x) -> Status {
    std::string* out = call.alloc<std::string>(0, x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
      TRY_ASSIGN(out[i], decode_base64(x[i]));
    }
    return absl::OkStatus();
  });
}

}  // namespace troupe
