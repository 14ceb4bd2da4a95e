// Lines and records of files.
#include <troupe/ops/files/crc32c.hpp>
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/files/records.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

namespace troupe {
namespace {

constexpr std::size_t checksum_size = sizeof(std::uint32_t);
constexpr std::size_t header_size = sizeof(std::uint64_t) + checksum_size;

template <class Int>
Int little(std::string_view bytes) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) value |= static_cast<Int>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

template <class Int>
void append_little(Int value, std::string& to) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) to += static_cast<char>(value >> (8 * i));
}

}  // namespace

StatusOr<bool> LineReader::fill() {
  before_ += buffer_.size();
  buffer_.resize(64 * 1024);
  TRY_ASSIGN(const std::size_t count, source_->read(buffer_.data(), buffer_.size()));
  buffer_.resize(count);
  at_ = 0;
  return count > 0;
}

StatusOr<bool> LineReader::next(std::string& line) {
  line.clear();
  bool ended = false;
  while (!ended) {
    if (at_ == buffer_.size()) {
      TRY_ASSIGN(const bool more, fill());
      if (!more) break;
    }
    const std::size_t end = buffer_.find('\n', at_);
    ended = end != std::string::npos;
    line.append(buffer_, at_, ended ? end - at_ : std::string::npos);
    at_ = ended ? end + 1 : buffer_.size();
  }
  if (returns_ == Returns::drop_all) std::erase(line, '\r');
  else if (!line.empty() && line.back() == '\r') line.pop_back();
  return ended || !line.empty();
}

StatusOr<RecordReader::Part> RecordReader::read_checked(std::uint64_t offset, std::uint64_t n, std::string& to) {
  if (n > std::numeric_limits<std::size_t>::max() - checksum_size) return data_loss("record size too large");
  const std::size_t wanted = static_cast<std::size_t>(n) + checksum_size;
  TRY(source_->read(wanted, to));
  if (to.size() < wanted) return to.empty() ? Part::empty : Part::cut;
  const auto stored = little<std::uint32_t>(std::string_view(to).substr(static_cast<std::size_t>(n)));
  to.resize(static_cast<std::size_t>(n));
  if (unmask_crc(stored) == crc32c(to)) return Part::whole;
  return data_loss("corrupted record at {}{}", offset, offset == 0 ? " (Is this even a TFRecord file?)" : "");
}

StatusOr<bool> RecordReader::next(std::string& record) {
  TRY(failure_);
  auto more = read(record);
  failure_ = more.status();
  return more;
}

StatusOr<bool> RecordReader::read(std::string& record) {
  TRY_ASSIGN(const Part header, read_checked(offset_, sizeof(std::uint64_t), record));
  if (header != Part::whole) return false;
  const auto length = little<std::uint64_t>(record);
  TRY_ASSIGN(const Part body, read_checked(offset_ + header_size, length, record));
  if (body != Part::whole) return data_loss("truncated record at {}' failed with {}", offset_, source_->end_text());
  offset_ += header_size + length + checksum_size;
  return true;
}

Status RecordReader::seek(std::uint64_t offset) {
  if (offset < offset_) return invalid("Trying to seek offset: {} which is less than the current offset: {}", offset, offset_);
  TRY_ASSIGN(const std::uint64_t skipped, source_->skip(offset - offset_));
  if (skipped < offset - offset_) return out_of_range("{}", source_->end_text());
  offset_ = offset;
  return absl::OkStatus();
}

void append_record(std::string_view record, std::string& to) {
  const std::size_t begin = to.size();
  append_little<std::uint64_t>(record.size(), to);
  append_little(mask_crc(crc32c(std::string_view(to).substr(begin))), to);
  to += record;
  append_little(mask_crc(crc32c(record)), to);
}

struct RecordWriter::Sink {
  Sink(std::string n, std::FILE* f) : name(std::move(n)), file(f) {}
  ~Sink() {
    if (deflates) deflateEnd(&stream);
    if (file) std::fclose(file);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  Status put(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) return errno_status(name, errno);
    return absl::OkStatus();
  }
  Status put_deflated(std::string_view bytes, int flush) {
    std::array<char, 16 * 1024> out;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      if (const int result = deflate(&stream, flush); result == Z_STREAM_ERROR) return data_loss("deflate() failed with error {}", result);
      TRY(put({out.data(), out.size() - stream.avail_out}));
    } while (stream.avail_out == 0);
    return absl::OkStatus();
  }

  std::string name;
  std::FILE* file;
  z_stream stream{};
  bool deflates = false;
};

RecordWriter::RecordWriter(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {}
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;
RecordWriter& RecordWriter::operator=(RecordWriter&&) noexcept = default;
RecordWriter::~RecordWriter() = default;

StatusOr<RecordWriter> RecordWriter::create(const std::string& file, Compression compression) {
  TRY_ASSIGN(const std::string path, local_path(file));
  std::FILE* opened = std::fopen(path.c_str(), "wb");
  if (!opened) return errno_status(file, errno);
  auto sink = std::make_unique<Sink>(file, opened);
  if (compression != Compression::none) {
    const int bits = compression == Compression::gzip ? MAX_WBITS + 16 : MAX_WBITS;
    if (deflateInit2(&sink->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits, 9, Z_DEFAULT_STRATEGY) != Z_OK) return internal("deflateInit failed");
    sink->deflates = true;
  }
  return RecordWriter(std::move(sink));
}

Status RecordWriter::write(std::string_view record) {
  if (!sink_) return failed_precondition("Writer not initialized or previously closed");
  std::string bytes;
  append_record(record, bytes);
  if (!sink_->deflates) return sink_->put(bytes);
  std::string_view left = bytes;
  do {  // zlib counts in 32 bits
    const std::size_t count = std::min<std::size_t>(left.size(), std::numeric_limits<uInt>::max());
    TRY(sink_->put_deflated(left.substr(0, count), Z_NO_FLUSH));
    left.remove_prefix(count);
  } while (!left.empty());
  return absl::OkStatus();
}

Status RecordWriter::flush() {
  if (!sink_) return failed_precondition("Writer not initialized or previously closed");
  if (sink_->deflates) TRY(sink_->put_deflated({}, Z_PARTIAL_FLUSH));
  return std::fflush(sink_->file) == 0 ? absl::OkStatus() : errno_status(sink_->name, errno);
}

Status RecordWriter::close() {
  if (!sink_) return absl::OkStatus();
  auto sink = std::move(sink_);
  if (sink->deflates) TRY(sink->put_deflated({}, Z_FINISH));
  if (std::fclose(std::exchange(sink->file, nullptr)) != 0) return errno_status(sink->name, errno);
  return absl::OkStatus();
}

}  // namespace troupe
