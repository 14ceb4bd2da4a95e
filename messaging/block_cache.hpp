// Small blocks of memory for tensors, kept by the thread that freed them for its next ones.
#pragma once

#include <cstddef>

namespace troupe {

/// A block of at least this size, aligned as tensors are. Throws std::bad_alloc.
void* take_block(std::size_t bytes);
/// Gives it back; any thread may, with the size that was asked for.
void give_block(void* block, std::size_t bytes) noexcept;

}  // namespace troupe
