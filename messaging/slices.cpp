// Protobuf's wire format in slices.
#include <troupe/messaging/slices.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/common.h>

#include <climits>
#include <cstring>

namespace troupe {
namespace {

/// Below this a copy costs less than another slice.
constexpr std::size_t by_reference_from = 4096;
/// Protobuf's own limit for nested groups.
constexpr int max_depth = 100;

enum WireType : std::uint32_t { varint_type = 0, fixed64_type = 1, bytes_type = 2, group_type = 3, end_type = 4, fixed32_type = 5 };

}  // namespace

SliceReader::SliceReader(const std::vector<grpc::Slice>& slices) {
  for (const grpc::Slice& slice : slices) left_ += slice.size();
  if (left_ == 0) return;
  slice_ = slices.data();
  cursor_ = reinterpret_cast<const char*>(slice_->begin());
  end_ = cursor_ + slice_->size();
  to_next_slice();
}

void SliceReader::to_next_slice() {
  while (cursor_ == end_ && left_ > 0) {
    ++slice_;
    cursor_ = reinterpret_cast<const char*>(slice_->begin());
    end_ = cursor_ + slice_->size();
  }
}

bool SliceReader::skip(std::size_t size) {
  if (size > left_) return false;
  while (size > 0) {
    const std::size_t n = std::min(size, chunk());
    cursor_ += n;
    left_ -= n;
    size -= n;
    to_next_slice();
  }
  return true;
}

void SliceReader::copy_to(char* out, std::size_t size) {
  while (size > 0) {
    const std::size_t n = std::min(size, chunk());
    std::memcpy(out, cursor_, n);
    out += n;
    size -= n;
    skip(n);
  }
}

std::string_view SliceReader::take_chunk() {
  const std::string_view taken(cursor_, std::min(left_, chunk()));
  skip(taken.size());
  return taken;
}

bool SliceReader::read_varint(std::uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (left_ == 0) return false;
    const auto byte = static_cast<unsigned char>(*cursor_++);
    if (--left_ > 0 && cursor_ == end_) to_next_slice();
    *value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool SliceReader::read_tag(std::uint32_t* tag) {
  std::uint64_t value = 0;
  if (!read_varint(&value) || value > UINT_MAX || (value >> 3) == 0) return false;
  *tag = static_cast<std::uint32_t>(value);
  return true;
}

bool SliceReader::read_bytes(SliceReader* bytes) {
  std::uint64_t size = 0;
  if (!read_varint(&size) || size > left_ || size > INT_MAX) return false;
  *bytes = *this;
  bytes->left_ = size;
  return skip(size);
}

bool SliceReader::read_text(std::string* text) {
  SliceReader bytes = *this;
  if (!read_bytes(&bytes)) return false;
  text->resize(bytes.left());
  bytes.copy_to(text->data(), text->size());
  return google::protobuf::internal::IsStructurallyValidUTF8(text->data(), static_cast<int>(text->size()));
}

bool SliceReader::read_message(google::protobuf::MessageLite* message) {
  SliceReader bytes = *this;
  if (!read_bytes(&bytes)) return false;
  SliceInputStream stream(bytes);
  google::protobuf::io::CodedInputStream coded(&stream);
  return message->MergeFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

bool SliceReader::skip_value(std::uint32_t tag, int depth) {
  std::uint64_t value = 0;
  std::uint32_t inner = 0;
  switch (tag & 7) {
    case varint_type: return read_varint(&value);
    case fixed64_type: return skip(8);
    case fixed32_type: return skip(4);
    case bytes_type: return read_varint(&value) && skip(value);
    case group_type:
      while (depth < max_depth && read_tag(&inner)) {
        if ((inner & 7) == end_type) return inner >> 3 == tag >> 3;
        if (!skip_value(inner, depth + 1)) return false;
      }
      return false;
    default: return false;
  }
}

bool SliceInputStream::Next(const void** data, int* size) {
  if (backed_up_ > 0) {
    last_ = last_.substr(last_.size() - backed_up_);
    backed_up_ = 0;
  } else {
    last_ = reader_.take_chunk();
    given_ += static_cast<std::int64_t>(last_.size());
  }
  *data = last_.data();
  *size = static_cast<int>(last_.size());
  return !last_.empty();
}

bool SliceInputStream::Skip(int count) {
  auto size = static_cast<std::size_t>(count);
  const std::size_t known = std::min(size, backed_up_);
  backed_up_ -= known;
  size -= known;
  const std::size_t there = std::min(size, reader_.left());
  given_ += static_cast<std::int64_t>(there);
  reader_.skip(there);
  return there == size;
}

std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void SliceWriter::varint_value(int field, std::uint64_t value) {
  varint(varint_field(field));
  varint(value);
}

void SliceWriter::optional_varint(int field, std::uint64_t value) {
  if (value != 0) varint_value(field, value);
}

void SliceWriter::begin_bytes(int field, std::size_t size) {
  varint(bytes_field(field));
  varint(size);
}

void SliceWriter::text(int field, std::string_view text) {
  begin_bytes(field, text.size());
  raw(text);
}

void SliceWriter::optional_text(int field, std::string_view value) {
  if (!value.empty()) text(field, value);
}

void SliceWriter::message(int field, const google::protobuf::MessageLite& message) {
  begin_bytes(field, message.ByteSizeLong());
  message.AppendToString(&pending_);
}

void SliceWriter::memory(const Tensor& tensor) {
  const std::size_t size = tensor.bytes();
  if (size == 0) return;
  if (size < by_reference_from) return raw({static_cast<const char*>(tensor.raw()), size});
  flush();
  BufferPtr held = tensor.buffer();
  const auto release = [](void* buffer) { BufferPtr(static_cast<Buffer*>(buffer), false); };
  add(grpc::Slice(const_cast<void*>(tensor.raw()), size, release, held.detach()));
}

void SliceWriter::nested(int field, SliceWriter inner) {
  begin_bytes(field, inner.size());
  if (inner.slices_.empty()) return raw(inner.pending_);
  flush();
  for (grpc::Slice& slice : inner.slices_) add(std::move(slice));
  pending_ = std::move(inner.pending_);
}

void SliceWriter::add(grpc::Slice slice) {
  flushed_ += slice.size();
  slices_.push_back(std::move(slice));
}

void SliceWriter::flush() {
  if (pending_.empty()) return;
  if (pending_.size() < by_reference_from) {
    add(grpc::Slice(pending_.data(), pending_.size()));
    return pending_.clear();
  }
  auto* held = new std::string(std::exchange(pending_, {}));
  add(grpc::Slice(
      held->data(), held->size(), [](void* text) { delete static_cast<std::string*>(text); }, held));
}

grpc::ByteBuffer SliceWriter::finish() {
  flush();
  grpc::ByteBuffer all(slices_.data(), slices_.size());
  slices_.clear();
  flushed_ = 0;
  return all;
}

}  // namespace troupe
