// Lists of free blocks by size, one set per thread.
#include <troupe/messaging/block_cache.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

namespace troupe {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t smallest = 128, classes = 10;  // up to 64 KB: larger ones cost more to fill than to allocate
// Of each class and thread so many are kept: a megabyte, and of large ones as many as a step with some twenty variables lets go at once.
constexpr std::size_t kept_bytes = 1024 * 1024, kept_blocks = 64;

#if defined(__SANITIZE_ADDRESS__) || defined(TROUPE_TSAN)
constexpr bool caching = false;  // a kept block would hide its use after it was freed
#else
constexpr bool caching = true;
#endif

struct Free {
  Free* next;
};

struct FreeList {
  Free* first = nullptr;
  std::size_t count = 0;
};

void* allocate(std::size_t bytes) { return ::operator new(bytes, std::align_val_t(alignment)); }
void release(void* block) noexcept { ::operator delete(block, std::align_val_t(alignment)); }

// Apart from the lists, whose destructor writes it for those who come later: they give their memory straight back.
thread_local bool open = caching;

struct Lists {
  std::array<FreeList, classes> of{};
  ~Lists() {
    open = false;
    for (FreeList& list : of)
      while (Free* block = list.first) {
        list.first = block->next;
        release(block);
      }
  }
};

thread_local Lists lists;

constexpr std::size_t class_of(std::size_t bytes) { return bytes <= smallest ? 0 : static_cast<std::size_t>(std::bit_width((bytes - 1) / smallest)); }
constexpr std::size_t size_of_class(std::size_t c) { return smallest << c; }
constexpr std::size_t most_of_class(std::size_t c) { return std::max(kept_blocks, kept_bytes / size_of_class(c)); }
static_assert(class_of(128) == 0 && class_of(129) == 1 && class_of(256) == 1 && class_of(257) == 2 && size_of_class(classes - 1) == 65536);

}  // namespace

void* take_block(std::size_t bytes) {
  const std::size_t c = class_of(bytes);
  if (c >= classes) return allocate(bytes);
  if (!open) return allocate(size_of_class(c));
  FreeList& list = lists.of[c];
  if (!list.first) return allocate(size_of_class(c));
  Free* block = list.first;
  list.first = block->next;
  --list.count;
  return block;
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t c = class_of(bytes);
  if (c >= classes || !open || lists.of[c].count >= most_of_class(c)) return release(block);
  FreeList& list = lists.of[c];
  list.first = new (block) Free{list.first};
  ++list.count;
}

}  // namespace troupe
