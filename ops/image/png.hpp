// PNG files in memory.
#pragma once

#include <troupe/ops/image/pixels.hpp>

namespace troupe {

/// Decodes with the channels asked for (0: the file's own), converting colours and depths as needed.
template <class Sample>
StatusOr<Pixels<Sample>> decode_png(std::string_view file, int channels);

/// Whether there is a header that decoding could start from.
Status check_png(std::string_view file, int channels);

/// Encodes rows of 1 to 4 channels; compression is zlib's level or -1. Empty when it fails.
template <class Sample>
std::string encode_png(const Sample* samples, std::int64_t height, std::int64_t width, int channels, int compression);

}  // namespace troupe
