// CRC-32C with the processor's instruction where it has one, by table otherwise.
#include <troupe/ops/files/crc32c.hpp>

#include <array>
#include <cstring>

namespace troupe {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) ? 0x82f63b78U : 0U);
    table[i] = c;
  }
  return table;
}

std::uint32_t by_table(std::uint32_t c, std::string_view bytes) {
  static constexpr auto table = make_table();
  for (const char b : bytes) c = table[(c ^ static_cast<unsigned char>(b)) & 0xff] ^ (c >> 8);
  return c;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t start, std::string_view bytes) {
  std::uint64_t c = start;
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    c = __builtin_ia32_crc32di(c, word);
  }
  auto narrow = static_cast<std::uint32_t>(c);
  for (; n > 0; --n, ++p) narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(*p));
  return narrow;
}
#endif

}  // namespace

std::uint32_t extend_crc32c(std::uint32_t crc, std::string_view bytes) {
#ifdef __x86_64__
  static const bool fast = __builtin_cpu_supports("sse4.2");
  if (fast) return ~by_instruction(~crc, bytes);
#endif
  return ~by_table(~crc, bytes);
}

}  // namespace troupe
