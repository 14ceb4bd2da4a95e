// Buffered reading of a stretch of a file.
#include <troupe/ops/checkpoint/byte_run.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;

Status too_short() { return out_of_range("Read less bytes than requested"); }

}  // namespace

Status ByteRun::fill() {
  const std::uint64_t behind_buffer = left_ - (buffer_.size() - at_);
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(buffer_size, behind_buffer)));
  at_ = 0;
  TRY_ASSIGN(const std::size_t count, file_.read(offset_, buffer_.data(), buffer_.size()));
  if (count != buffer_.size()) return too_short();
  offset_ += count;
  return absl::OkStatus();
}

Status ByteRun::read(char* to, std::size_t n) {
  if (n > left_) return too_short();
  while (n > 0) {
    if (at_ == buffer_.size() && n >= buffer_size) {
      TRY_ASSIGN(const std::size_t count, file_.read(offset_, to, n));
      if (count != n) return too_short();
      offset_ += n;
      left_ -= n;
      return absl::OkStatus();
    }
    if (at_ == buffer_.size()) TRY(fill());
    const std::size_t here = std::min(n, buffer_.size() - at_);
    std::memcpy(to, buffer_.data() + at_, here);
    to += here;
    at_ += here;
    n -= here;
    left_ -= here;
  }
  return absl::OkStatus();
}

StatusOr<std::uint64_t> ByteRun::read_varint() {
  std::uint64_t n = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    unsigned char byte;
    TRY(read(reinterpret_cast<char*>(&byte), 1));
    n |= static_cast<std::uint64_t>(byte & 0x7f) << (shift < 64 ? shift : 0);
    if (byte < 0x80) return n;
  }
  return data_loss("Stored data is too large to be a varint64.");
}

}  // namespace troupe
