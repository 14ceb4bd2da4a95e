// Files read from the front: bytes (plain or compressed), lines of text, TFRecords.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

enum class Compression { none, zlib, gzip };
/// "", "ZLIB" and "GZIP"; nothing else is known.
StatusOr<Compression> compression_named(std::string_view name);

/// A sequence of bytes. Reading may block: kernels that use it belong on the I/O pool.
class ByteSource {
 public:
  static constexpr std::size_t usual_buffer = 256 * 1024;

  virtual ~ByteSource() = default;
  /// Bytes read into `to`: fewer than n only at the end.
  virtual StatusOr<std::size_t> read(char* to, std::size_t n) = 0;
  /// Bytes left out: fewer than n only at the end.
  virtual StatusOr<std::uint64_t> skip(std::uint64_t n);
  /// How TensorFlow calls an end that comes too early.
  virtual const char* end_text() const = 0;
  /// Replaces `to` by the next n bytes, fewer at the end; takes no more memory than there is to read.
  Status read(std::size_t n, std::string& to);
};

/// NOT_FOUND and the like when the file cannot be opened.
StatusOr<std::unique_ptr<ByteSource>> open_bytes(const std::string& file, Compression compression = Compression::none,
                                                 std::size_t buffer = ByteSource::usual_buffer);
/// Another source inflated, as zlib or gzip; of raw deflated bytes with `window_bits` -15.
std::unique_ptr<ByteSource> inflated(std::unique_ptr<ByteSource> source, int window_bits, std::size_t buffer = ByteSource::usual_buffer);
/// Bytes in memory.
std::unique_ptr<ByteSource> bytes_of(std::string bytes);

/// Lines without their ends.
class LineReader {
 public:
  /// What is done with carriage returns: only one before the end of a line is dropped (TextLineReader), or all are (TextLineDataset).
  enum class Returns { drop_last, drop_all };
  LineReader(std::unique_ptr<ByteSource> source, Returns returns) : source_(std::move(source)), returns_(returns) {}
  /// False at the end of the file.
  StatusOr<bool> next(std::string& line);
  /// Bytes read so far, ends of lines included.
  std::uint64_t position() const { return before_ + at_; }

 private:
  StatusOr<bool> fill();
  std::unique_ptr<ByteSource> source_;
  Returns returns_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t before_ = 0;  // bytes before the buffer
};

/// Records under checksums, as TFRecordWriter writes them.
class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  /// False at the end of the file. DATA_LOSS where a record is cut or a checksum is wrong, from then on.
  StatusOr<bool> next(std::string& record);
  /// Where the next record begins (in the bytes after decompression).
  std::uint64_t offset() const { return offset_; }
  /// Goes to the record at an offset that offset() has said.
  Status seek(std::uint64_t offset);

 private:
  enum class Part { whole, cut, empty };
  StatusOr<Part> read_checked(std::uint64_t offset, std::uint64_t n, std::string& to);
  StatusOr<bool> read(std::string& record);

  std::unique_ptr<ByteSource> source_;
  std::uint64_t offset_ = 0;
  Status failure_;
};

/// Appends a record as it stands in a file.
void append_record(std::string_view record, std::string& to);

/// Writes a file of records; it is complete when close() has said so.
class RecordWriter {
 public:
  static StatusOr<RecordWriter> create(const std::string& file, Compression compression = Compression::none);
  RecordWriter(RecordWriter&&) noexcept;
  RecordWriter& operator=(RecordWriter&&) noexcept;
  ~RecordWriter();
  Status write(std::string_view record);
  Status flush();
  Status close();

 private:
  struct Sink;
  explicit RecordWriter(std::unique_ptr<Sink> sink);
  std::unique_ptr<Sink> sink_;
};

}  // namespace troupe
