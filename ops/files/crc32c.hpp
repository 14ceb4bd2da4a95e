// Checksums of records and checkpoints: CRC-32C, and the masked form in which files keep it.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace troupe {

/// The checksum of what `crc` covers with more bytes behind it.
std::uint32_t extend_crc32c(std::uint32_t crc, std::string_view bytes);
inline std::uint32_t crc32c(std::string_view bytes) { return extend_crc32c(0, bytes); }

/// Checksums of bytes that hold checksums are weak, hence the mask.
inline constexpr std::uint32_t crc_mask = 0xa282ead8U;
constexpr std::uint32_t mask_crc(std::uint32_t crc) { return std::rotr(crc, 15) + crc_mask; }
constexpr std::uint32_t unmask_crc(std::uint32_t masked) { return std::rotl(masked - crc_mask, 15); }

}  // namespace troupe
