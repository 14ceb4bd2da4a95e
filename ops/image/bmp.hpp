// BMP files in memory.
#pragma once

#include <troupe/ops/image/pixels.hpp>

namespace troupe {

/// Uncompressed gray, RGB or RGBA; `channels` 0 takes the file's own, others must be those.
StatusOr<Pixels<std::uint8_t>> decode_bmp(std::string_view file, int channels);

}  // namespace troupe
