// Protobuf's wire format read from and written to the slices of a byte buffer, without flattening it.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A wire tag: field number and how its value is encoded.
constexpr std::uint32_t varint_field(int number) { return static_cast<std::uint32_t>(number) << 3; }
constexpr std::uint32_t bytes_field(int number) { return static_cast<std::uint32_t>(number) << 3 | 2; }

/// A range of bytes of somebody's slices, consumed from the front. A value, cheap to copy; the slices must outlive it.
/// Every function returns false on malformed or truncated input, after which the reader is of no use.
class SliceReader {
 public:
  explicit SliceReader(const std::vector<grpc::Slice>& slices);

  std::size_t left() const { return left_; }
  /// Calls on_field(tag) for every field up to the end; it consumes the value and returns false when it cannot.
  template <class F>
  bool read_fields(F&& on_field) {
    std::uint32_t tag = 0;
    while (left_ > 0)
      if (!read_tag(&tag) || !on_field(tag)) return false;
    return true;
  }
  bool read_varint(std::uint64_t* value);
  /// A length and then a reader of just those bytes, which this one skips.
  bool read_bytes(SliceReader* bytes);
  /// Text must be UTF-8.
  bool read_text(std::string* text);
  /// A nested message, merged into what is there.
  bool read_message(google::protobuf::MessageLite* message);
  bool skip_value(std::uint32_t tag) { return skip_value(tag, 0); }

  /// All that is left, when it lies in one slice; otherwise null.
  const char* contiguous() const { return left_ <= chunk() ? cursor_ : nullptr; }
  /// The slice that contiguous() points into.
  const grpc::Slice& slice() const { return *slice_; }
  /// Consumes bytes to `out`, which has room for them.
  void copy_to(char* out, std::size_t size);
  /// Consumes without looking; false when there are fewer.
  bool skip(std::size_t size);
  /// The next bytes of one slice, at least one unless at the end; consumed.
  std::string_view take_chunk();

 private:
  std::size_t chunk() const { return static_cast<std::size_t>(end_ - cursor_); }
  void to_next_slice();
  bool read_tag(std::uint32_t* tag);
  bool skip_value(std::uint32_t tag, int depth);

  const grpc::Slice* slice_ = nullptr;
  const char* cursor_ = nullptr;  // in *slice_; at its end only when nothing is left
  const char* end_ = nullptr;
  std::size_t left_ = 0;
};

/// Lets protobuf read what a reader has left.
class SliceInputStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit SliceInputStream(SliceReader reader) : reader_(reader) {}
  bool Next(const void** data, int* size) override;
  void BackUp(int count) override { backed_up_ = static_cast<std::size_t>(count); }
  bool Skip(int count) override;
  std::int64_t ByteCount() const override { return given_ - static_cast<std::int64_t>(backed_up_); }

 private:
  SliceReader reader_;
  std::string_view last_;
  std::size_t backed_up_ = 0;
  std::int64_t given_ = 0;
};

std::size_t varint_size(std::uint64_t value);
void append_varint(std::string& out, std::uint64_t value);

/// Collects fields; small ones in one slice, large memory by reference.
class SliceWriter {
 public:
  void varint(std::uint64_t value) { append_varint(pending_, value); }
  void varint_value(int field, std::uint64_t value);
  /// Nothing when it is false, zero or empty, as proto3 has it.
  void optional_varint(int field, std::uint64_t value);
  void optional_text(int field, std::string_view text);
  void text(int field, std::string_view text);
  void message(int field, const google::protobuf::MessageLite& message);
  /// Tag and length of a value that follows.
  void begin_bytes(int field, std::size_t size);
  void raw(std::string_view bytes) { pending_.append(bytes); }
  /// A plain tensor's memory, by reference when that is worth a slice.
  void memory(const Tensor& tensor);
  /// All that another writer has collected, as one value.
  void nested(int field, SliceWriter inner);

  std::size_t size() const { return flushed_ + pending_.size(); }
  bool empty() const { return size() == 0; }
  /// Gives away what was collected and starts anew.
  grpc::ByteBuffer finish();

 private:
  void flush();
  void add(grpc::Slice slice);
  std::string pending_;
  std::vector<grpc::Slice> slices_;
  std::size_t flushed_ = 0;  // bytes in slices_
};

}  // namespace troupe
