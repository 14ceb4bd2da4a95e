// Streams of blocks under snappy, each after its length, as saved datasets use them.
#pragma once

#include <troupe/ops/files/records.hpp>

namespace troupe {

/// Another source, uncompressed block by block.
std::unique_ptr<ByteSource> unsnapped(std::unique_ptr<ByteSource> source);
/// Appends bytes as blocks that TensorFlow's readers have room for.
void append_snappy_blocks(std::string_view bytes, std::string& to);

}  // namespace troupe
