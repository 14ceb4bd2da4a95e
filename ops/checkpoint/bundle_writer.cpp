// Writing of checkpoints of version 2.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/checkpoint/ordered_code.hpp>
#include <troupe/ops/files/crc32c.hpp>

#include <limits>

namespace troupe {
namespace {

void append_varint(std::uint64_t n, std::string& to) {
  for (; n >= 0x80; n >>= 7) to += static_cast<char>(n | 0x80);
  to += static_cast<char>(n);
}

template <class Int>
void append_little(Int n, std::string& to) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) to += static_cast<char>(n >> (8 * i));
}

}  // namespace

std::string bundle::index_file(const std::string& prefix) { return prefix + ".index"; }
std::string bundle::data_file(const std::string& prefix, int shard, int shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, shards);
}

std::string bundle::with_length(std::string_view content) {
  std::string out;
  append_varint(content.size(), out);
  return out.append(content);
}

wire::BundleHeaderProto bundle::header_of(int shards) {
  wire::BundleHeaderProto header;
  header.set_num_shards(shards);
  header.set_endianness(wire::BundleHeaderProto::LITTLE);
  header.mutable_version()->set_producer(version);
  return header;
}

Status bundle::make_place_for(const std::string& prefix) {
  TRY(local_path(prefix).status());
  const std::string directory(directory_of(prefix));
  if (directory.empty() || file_exists(directory)) return absl::OkStatus();
  const Status made = make_directory(directory);  // the writers of other shards make it at the same time
  return absl::IsAlreadyExists(made) ? absl::OkStatus() : made;
}

StatusOr<TableWriter> bundle::write_index(const std::string& prefix, int shards, const std::map<std::string, wire::BundleEntryProto>& entries) {
  TRY_ASSIGN(TableWriter index, TableWriter::create(index_file(prefix)));
  index.add("", header_of(shards).SerializeAsString());
  for (const auto& [key, entry] : entries) index.add(key, entry.SerializeAsString());
  TRY(index.close());
  return index;
}

StatusOr<BundleWriter> BundleWriter::create(const std::string& prefix) {
  TRY(bundle::make_place_for(prefix));
  TRY_ASSIGN(NewFile data, NewFile::create(bundle::data_file(prefix, 0, 1)));
  return BundleWriter(prefix, std::move(data));
}

Status BundleWriter::add(const std::string& key, const Tensor& value) {
  if (key.empty()) return invalid("A tensor in a checkpoint must have a name");
  if (entries_.contains(key)) return invalid("Adding duplicate key: {}", key);
  wire::BundleEntryProto entry;
  entry.set_dtype(static_cast<wire::DataType>(value.dtype()));
  to_proto(value.shape(), entry.mutable_shape());
  entry.set_offset(static_cast<std::int64_t>(data_.size()));
  std::uint32_t crc = 0;
  if (value.dtype() == DType::string) {
    TRY_ASSIGN(crc, write_strings(value));
  } else if (value.dtype() == DType::variant) {
    TRY_ASSIGN(crc, write_variants(value));
  } else {
    TRY_ASSIGN(crc, write_plain(value));
  }
  entry.set_size(static_cast<std::int64_t>(data_.size()) - entry.offset());
  entry.set_crc32c(mask_crc(crc));
  entries_.emplace(key, std::move(entry));
  return absl::OkStatus();
}

Status BundleWriter::add_slice(const std::string& key, const Shape& full, const TensorSlice& slice, const Tensor& value) {
  if (slice.is_all_of(full)) return add(key, value);
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    if (found->second.slices_size() == 0) return invalid("Adding duplicate key: {}", key);
    TRY_ASSIGN(const Shape known, shape_from_proto(found->second.shape()));
    if (known != full || static_cast<DType>(found->second.dtype()) != value.dtype())
      return invalid("Slices of tensor {} differ: {} {} and {} {}", key, name_of(static_cast<DType>(found->second.dtype())), known,
                     name_of(value.dtype()), full);
  }
  TRY(add(slice_key(key, slice), value));
  wire::BundleEntryProto& entry = entries_[key];
  entry.set_dtype(static_cast<wire::DataType>(value.dtype()));
  to_proto(full, entry.mutable_shape());
  slice.to_proto(entry.add_slices());
  return absl::OkStatus();
}

Status BundleWriter::finish() {
  // Where a checkpoint is written over another one of its name, both change within two calls.
  TRY(data_.close());
  TRY_ASSIGN(TableWriter index, bundle::write_index(prefix_, 1, entries_));
  TRY(data_.commit());
  return index.commit();
}

StatusOr<std::uint32_t> BundleWriter::write_plain(const Tensor& value) {
  if (is_object(value.dtype())) return unimplemented("Tensors of {} cannot be saved in a checkpoint", name_of(value.dtype()));
  const std::string_view bytes(value.data<char>(), value.bytes());
  TRY(data_.append(bytes));
  return crc32c(bytes);
}

StatusOr<std::uint32_t> BundleWriter::write_strings(const Tensor& value) {
  std::string lengths, counted;  // as they are stored, and as the checksum sees them
  for (const std::string& text : value.values<std::string>()) {
    append_varint(text.size(), lengths);
    if (text.size() <= std::numeric_limits<std::uint32_t>::max()) append_little(static_cast<std::uint32_t>(text.size()), counted);
    else append_little(static_cast<std::uint64_t>(text.size()), counted);
  }
  std::uint32_t crc = crc32c(counted);
  std::string checksum;
  append_little(mask_crc(crc), checksum);
  crc = extend_crc32c(crc, checksum);
  TRY(data_.append(lengths));
  TRY(data_.append(checksum));
  for (const std::string& text : value.values<std::string>()) {
    TRY(data_.append(text));
    crc = extend_crc32c(crc, text);
  }
  return crc;
}

/// Each with its length before it and the checksum so far behind it.
StatusOr<std::uint32_t> BundleWriter::write_variants(const Tensor& value) {
  std::uint32_t crc = 0;
  for (const Variant& variant : value.values<Variant>()) {
    Tensor alone(DType::variant, Shape{});
    alone.mutable_data<Variant>()[0] = variant;
    const std::string counted_content = encode_objects(alone);
    std::string_view content = counted_content;
    while (static_cast<unsigned char>(content.front()) >= 0x80) content.remove_prefix(1);
    content.remove_prefix(1);
    std::string length, checksum;
    append_little(static_cast<std::uint64_t>(content.size()), length);
    crc = extend_crc32c(extend_crc32c(crc, length), content);
    append_little(mask_crc(crc), checksum);
    crc = extend_crc32c(crc, checksum);
    TRY(data_.append(counted_content));
    TRY(data_.append(checksum));
  }
  return crc;
}

}  // namespace troupe
