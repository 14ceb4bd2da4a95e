// A block: four bytes of length, the highest first, and as many compressed ones.
#include <troupe/ops/files/snappy_blocks.hpp>

#include <snappy.h>

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

constexpr std::size_t length_size = 4, largest_block = 128 * 1024;

class Unsnapped final : public ByteSource {
 public:
  explicit Unsnapped(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  StatusOr<std::size_t> read(char* to, std::size_t n) override {
    std::size_t count = 0;
    while (count < n) {
      if (at_ == plain_.size()) {
        TRY_ASSIGN(const bool more, fill());
        if (!more) break;
      }
      const std::size_t part = std::min(n - count, plain_.size() - at_);
      std::memcpy(to + count, plain_.data() + at_, part);
      at_ += part;
      count += part;
    }
    return count;
  }
  const char* end_text() const override { return "EOF reached"; }

 private:
  StatusOr<bool> fill() {
    std::string block;
    TRY(source_->ByteSource::read(length_size, block));
    if (block.empty()) return false;
    if (block.size() < length_size) return data_loss("Failed to decode the block length");
    std::size_t length = 0;
    for (char c : block) length = length << 8 | static_cast<unsigned char>(c);
    TRY(source_->ByteSource::read(length, block));
    if (block.size() < length) return data_loss("Failed to read {} bytes from file.", length);
    at_ = 0;
    plain_.clear();
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(block.data(), block.size(), &size)) return data_loss("Parsing error in Snappy_GetUncompressedLength");
    if (!snappy::IsValidCompressedBuffer(block.data(), block.size()) || !snappy::Uncompress(block.data(), block.size(), &plain_))
      return data_loss("Snappy_Uncompress failed");
    return true;
  }

  std::unique_ptr<ByteSource> source_;
  std::string plain_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> unsnapped(std::unique_ptr<ByteSource> source) { return std::make_unique<Unsnapped>(std::move(source)); }

void append_snappy_blocks(std::string_view bytes, std::string& to) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, largest_block);
    bytes.remove_prefix(part.size());
    std::string block;
    snappy::Compress(part.data(), part.size(), &block);
    for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(block.size() >> shift);
    to += block;
  }
}

}  // namespace troupe
