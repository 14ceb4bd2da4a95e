// Sequences of bytes out of files and memory, inflated where they are compressed.
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/files/records.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace troupe {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(RandomFile file, std::size_t buffer) : file_(std::move(file)), buffer_(std::max<std::size_t>(buffer, 1)) {}
  const char* end_text() const override { return "Read less bytes than requested"; }

  StatusOr<std::size_t> read(char* to, std::size_t n) override {
    std::size_t done = 0;
    while (done < n) {
      if (at_ == filled_) {
        if (n - done >= buffer_.size()) {
          TRY_ASSIGN(const std::size_t direct, file_.read(next_, to + done, n - done));
          next_ += direct;
          return done + direct;
        }
        TRY_ASSIGN(filled_, file_.read(next_, buffer_.data(), buffer_.size()));
        next_ += filled_;
        at_ = 0;
        if (filled_ == 0) break;
      }
      const std::size_t count = std::min(n - done, filled_ - at_);
      std::memcpy(to + done, buffer_.data() + at_, count);
      at_ += count;
      done += count;
    }
    return done;
  }

  StatusOr<std::uint64_t> skip(std::uint64_t n) override {
    const std::uint64_t buffered = filled_ - at_;
    if (n <= buffered) {
      at_ += static_cast<std::size_t>(n);
      return n;
    }
    TRY_ASSIGN(const std::uint64_t size, file_.size());
    const std::uint64_t left = size > next_ ? size - next_ : 0;
    const std::uint64_t beyond = std::min(n - buffered, left);
    at_ = filled_ = 0;
    next_ += beyond;
    return buffered + beyond;
  }

 private:
  RandomFile file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t next_ = 0;  // where the file is read next
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  const char* end_text() const override { return "Read less bytes than requested"; }
  StatusOr<std::size_t> read(char* to, std::size_t n) override {
    const std::size_t count = bytes_.copy(to, n, at_);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// Hands on nothing of a buffer in which it meets an error, as TensorFlow does.
class InflatedSource final : public ByteSource {
 public:
  InflatedSource(std::unique_ptr<ByteSource> source, int window_bits, std::size_t buffer)
      : source_(std::move(source)), several_(window_bits > MAX_WBITS), in_(std::max<std::size_t>(buffer, 1)), out_(in_.size()) {
    std::memset(&stream_, 0, sizeof stream_);
    started_ = inflateInit2(&stream_, window_bits) == Z_OK;
  }
  ~InflatedSource() override {
    if (started_) inflateEnd(&stream_);
  }
  InflatedSource(const InflatedSource&) = delete;
  InflatedSource& operator=(const InflatedSource&) = delete;
  const char* end_text() const override { return "EOF reached"; }

  StatusOr<std::size_t> read(char* to, std::size_t n) override {
    std::size_t done = 0;
    while (done < n) {
      if (at_ == filled_) {
        TRY_ASSIGN(const bool more, fill());
        if (!more) break;
        continue;
      }
      const std::size_t count = std::min(n - done, filled_ - at_);
      std::memcpy(to + done, out_.data() + at_, count);
      at_ += count;
      done += count;
    }
    return done;
  }

 private:
  StatusOr<bool> fill() {
    if (!started_) return internal("inflateInit failed");
    at_ = filled_ = 0;
    if (stream_.avail_in == 0) {
      TRY_ASSIGN(const std::size_t count, source_->read(in_.data(), in_.size()));
      if (count == 0) return false;
      stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
      stream_.avail_in = static_cast<uInt>(count);
    }
    if (ended_) {
      if (!several_) return false;
      inflateReset(&stream_);
      ended_ = false;
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = static_cast<uInt>(out_.size());
    const int result = inflate(&stream_, Z_SYNC_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return stream_.msg ? data_loss("inflate() failed with error {}: {}", result, stream_.msg) : data_loss("inflate() failed with error {}", result);
    }
    ended_ = result == Z_STREAM_END;
    filled_ = out_.size() - stream_.avail_out;
    return true;
  }

  std::unique_ptr<ByteSource> source_;
  bool several_;  // a gzip file may be several, one after another
  std::vector<char> in_, out_;
  std::size_t at_ = 0, filled_ = 0;
  z_stream stream_;
  bool started_ = false, ended_ = false;
};

}  // namespace

StatusOr<Compression> compression_named(std::string_view name) {
  if (name.empty()) return Compression::none;
  if (name == "ZLIB") return Compression::zlib;
  if (name == "GZIP") return Compression::gzip;
  return invalid("Unsupported compression_type: {}.", name);
}

StatusOr<std::uint64_t> ByteSource::skip(std::uint64_t n) {
  std::vector<char> away(static_cast<std::size_t>(std::min<std::uint64_t>(n, usual_buffer)));
  std::uint64_t done = 0;
  while (done < n) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(n - done, away.size()));
    TRY_ASSIGN(const std::size_t count, read(away.data(), wanted));
    done += count;
    if (count < wanted) break;
  }
  return done;
}

Status ByteSource::read(std::size_t n, std::string& to) {
  std::size_t filled = 0;
  std::size_t step = usual_buffer;
  to.clear();
  while (filled < n) {
    const std::size_t wanted = std::min(n - filled, step);
    to.resize(filled + wanted);
    TRY_ASSIGN(const std::size_t count, read(to.data() + filled, wanted));
    filled += count;
    if (count < wanted) break;
    step *= 2;
  }
  to.resize(filled);
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<ByteSource>> open_bytes(const std::string& file, Compression compression, std::size_t buffer) {
  TRY_ASSIGN(RandomFile opened, RandomFile::open(file));
  std::unique_ptr<ByteSource> source = std::make_unique<FileSource>(std::move(opened), buffer);
  if (compression == Compression::zlib) return inflated(std::move(source), MAX_WBITS, buffer);
  if (compression == Compression::gzip) return inflated(std::move(source), MAX_WBITS + 16, buffer);
  return source;
}

std::unique_ptr<ByteSource> inflated(std::unique_ptr<ByteSource> source, int window_bits, std::size_t buffer) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  return std::make_unique<InflatedSource>(std::move(source), window_bits, std::min(buffer, most));
}

std::unique_ptr<ByteSource> bytes_of(std::string bytes) { return std::make_unique<MemorySource>(std::move(bytes)); }

}  // namespace troupe
