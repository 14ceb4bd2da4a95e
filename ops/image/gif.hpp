// GIF files in memory, animated ones included.
#pragma once

#include <troupe/ops/image/pixels.hpp>

namespace troupe {

/// All frames, composed one over another, with three channels.
StatusOr<Pixels<std::uint8_t>> decode_gif(std::string_view file);

}  // namespace troupe
