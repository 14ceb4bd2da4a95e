// A stretch of a file, read from begin to end through a small buffer.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <cstdint>
#include <string>

namespace troupe {

/// OUT_OF_RANGE when the stretch, or the file, ends before what is asked for.
class ByteRun {
 public:
  ByteRun(const RandomFile& file, std::uint64_t offset, std::uint64_t size) : file_(file), offset_(offset), left_(size) {}

  /// What has not been read yet.
  std::uint64_t left() const { return left_; }
  /// Large pieces go straight to where they belong.
  Status read(char* to, std::size_t n);
  StatusOr<std::uint64_t> read_varint();

 private:
  Status fill();

  const RandomFile& file_;
  std::uint64_t offset_;  // of what the buffer does not have
  std::uint64_t left_;
  std::string buffer_;
  std::size_t at_ = 0;
};

}  // namespace troupe
