// Reading of checkpoints of version 2.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/checkpoint/ordered_code.hpp>
#include <troupe/ops/files/crc32c.hpp>

#include <cstring>
#include <limits>

namespace troupe {
namespace {

Status corrupt(const std::string& file, const char* detail, const Status& why) {
  return data_loss(
      "Unable to read file ({}). Perhaps the file is corrupt or was produced by a newer version of TensorFlow with format changes ({}): {}", file,
      detail, text_of(why));
}

Status check_version(const wire::VersionDef& version) {
  if (version.min_consumer() > bundle::version)
    return invalid("Checkpoint min consumer version {} above current version {} for TensorFlow 2.15.1.  Please upgrade TensorFlow.",
                   version.min_consumer(), bundle::version);
  for (const int bad : version.bad_consumers())
    if (bad == bundle::version)
      return invalid("Checkpoint disallows consumer version {}.  Please upgrade TensorFlow: this version is likely buggy.", bad);
  return absl::OkStatus();
}

Status read_exactly(const RandomFile& file, std::uint64_t offset, char* to, std::size_t n) {
  TRY_ASSIGN(const std::size_t count, file.read(offset, to, n));
  return count == n ? absl::OkStatus() : out_of_range("Read less bytes than requested");
}

/// The types of which TensorFlow reads parts that were not stored as such.
bool cut_out(DType type) {
  return visit_dtype(types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t, complex64, complex128, std::int64_t, bool, qint32,
                           quint8, qint8, bfloat16>{},
                     type, []<class T>() {});
}

/// Takes a number off the front of bytes.
StatusOr<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t n = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (bytes.empty()) return out_of_range("Read less bytes than requested");
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    n |= static_cast<std::uint64_t>(byte & 0x7f) << (shift < 64 ? shift : 0);
    if (byte < 0x80) return n;
  }
  return data_loss("Stored data is too large to be a varint64.");
}

}  // namespace

StatusOr<BundleReader> BundleReader::open(const std::string& prefix) {
  const std::string file = bundle::index_file(prefix);
  TRY_ASSIGN(TableReader index, TableReader::open(file));
  BundleReader reader(prefix, std::move(index));
  const auto header = reader.index_.find("");
  if (!header.ok()) return corrupt(file, "failed to seek to header entry", header.status());
  if (!*header) return corrupt(file, "failed to seek to header entry", absl::OkStatus());
  if (!reader.header_.ParseFromString(**header)) return corrupt(file, "unable to parse header", absl::OkStatus());
  if (reader.header_.endianness() != wire::BundleHeaderProto::LITTLE) return unimplemented("Checkpoints of big-endian machines cannot be read");
  TRY(check_version(reader.header_.version()));
  return reader;
}

StatusOr<wire::BundleEntryProto> BundleReader::entry(const std::string& key) {
  const auto found = index_.find(key);
  if (!found.ok() || !*found) return not_found("Key {} not found in checkpoint", key);
  wire::BundleEntryProto entry;
  if (!entry.ParseFromString(**found)) return data_loss("Entry for key {} not parseable.", key);
  if (const auto shape = shape_from_proto(entry.shape()); !shape.ok())
    return data_loss("Invalid tensor shape: {} {}", key, entry.shape().ShortDebugString());
  return entry;
}

Status BundleReader::each(const std::function<Status(const std::string&, const wire::BundleEntryProto&)>& visit) {
  return index_.each([&](std::string_view key, std::string_view value) -> Status {
    if (key.empty()) return absl::OkStatus();
    wire::BundleEntryProto entry;
    if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size()))) return data_loss("Entry for key {} not parseable.", key);
    return visit(std::string(key), entry);
  });
}

StatusOr<Tensor> BundleReader::read(const std::string& name) {
  TRY_ASSIGN(const auto found, entry(name));
  if (found.slices_size() == 0) return read_entry(name, found);
  return read_parts(name, found, TensorSlice(found.shape().dim_size()));
}

StatusOr<Tensor> BundleReader::read_slice(const std::string& name, const TensorSlice& slice) {
  TRY_ASSIGN(const auto found, entry(name));
  return read_parts(name, found, slice);
}

StatusOr<Tensor> BundleReader::read_parts(const std::string& name, const wire::BundleEntryProto& entry, const TensorSlice& wanted) {
  TRY_ASSIGN(const Shape full, shape_from_proto(entry.shape()));
  TRY_ASSIGN(const Shape part, wanted.shape_in(full));
  std::vector<TensorSlice> stored;
  for (const auto& proto : entry.slices()) {
    TRY_ASSIGN(stored.emplace_back(), TensorSlice::from_proto(proto));
  }
  if (stored.empty()) stored.emplace_back(full.rank());
  TRY_ASSIGN(const auto parts, covering_slices(stored, wanted, full));
  if (!parts) return invalid("Does not have sufficient slices for partitioned tensor {} to restore in slice_spec: {}", name, to_string(wanted));
  Tensor value;
  for (const TensorSlice& slice : *parts) {
    const std::string key = entry.slices_size() == 0 ? name : slice_key(name, slice);
    TRY_ASSIGN(const auto slice_entry, this->entry(key));
    TRY_ASSIGN(const Shape here, slice.shape_in(full));
    TRY_ASSIGN(const Tensor read, read_entry(key, slice_entry));
    if (read.shape() != here || read.dtype() != static_cast<DType>(entry.dtype()))
      return data_loss("Slice {} of tensor {} has a wrong shape or type", to_string(slice), name);
    if (here == part && slice.within(full) == wanted.within(full)) return read;
    if (!cut_out(read.dtype())) return invalid("Dtype {} not supported.", name_of(read.dtype()));
    if (!value.valid()) value = Tensor(read.dtype(), part);
    copy_common(read, slice.within(full), value, wanted.within(full));
  }
  return value.valid() ? value : Tensor(static_cast<DType>(entry.dtype()), part);
}

StatusOr<const RandomFile*> BundleReader::data_of(int shard) {
  if (auto found = data_.find(shard); found != data_.end()) return &found->second;
  TRY_ASSIGN(RandomFile file, RandomFile::open(bundle::data_file(prefix_, shard, header_.num_shards())));
  return &data_.emplace(shard, std::move(file)).first->second;
}

StatusOr<Tensor> BundleReader::read_entry(const std::string& key, const wire::BundleEntryProto& entry) {
  const auto dtype = static_cast<DType>(entry.dtype());
  if (dtype != DType::string && size_of(dtype) == 0) return unimplemented("Tensors of {} cannot be restored from a checkpoint", name_of(dtype));
  if (entry.offset() < 0 || entry.size() < 0)
    return data_loss("Invalid place in bundle entry: key {}; offset {}; size {}", key, entry.offset(), entry.size());
  TRY_ASSIGN(const Shape shape, shape_from_proto(entry.shape()));
  TRY_ASSIGN(const RandomFile* file, data_of(entry.shard_id()));
  TRY_ASSIGN(const std::uint64_t bytes, file->size());
  const bool there = static_cast<std::uint64_t>(entry.offset()) <= bytes &&
                     static_cast<std::uint64_t>(entry.size()) <= bytes - static_cast<std::uint64_t>(entry.offset());
  if (dtype == DType::string && there && shape.elements() > entry.size())
    return data_loss("Invalid size in bundle entry: key {}; stored size {}", key, entry.size());
  if (!there) return out_of_range("Read less bytes than requested");
  Tensor value;
  std::uint32_t crc = 0;
  if (dtype == DType::string) {
    value = Tensor(dtype, shape);
    TRY(read_strings(*file, entry, value, crc));
  } else {
    const auto expected = static_cast<unsigned __int128>(shape.elements()) * size_of(dtype);
    if (expected != static_cast<std::uint64_t>(entry.size()))
      return data_loss("Invalid size in bundle entry: key {}; stored size {}; expected size {}", key, entry.size(),
                       static_cast<std::uint64_t>(expected));
    value = Tensor(dtype, shape);
    TRY(read_exactly(*file, static_cast<std::uint64_t>(entry.offset()), value.mutable_data<char>(), value.bytes()));
    crc = crc32c({value.data<char>(), value.bytes()});
  }
  if (unmask_crc(entry.crc32c()) != crc)
    return data_loss("TensorBundle at {} shard {} ({} bytes): Checksum does not match: stored {:08} vs. calculated on the restored bytes {}", prefix_,
                     entry.shard_id(), entry.size(), unmask_crc(entry.crc32c()), crc);
  return value;
}

Status BundleReader::read_strings(const RandomFile& file, const wire::BundleEntryProto& entry, Tensor& value, std::uint32_t& crc) {
  std::string stored(static_cast<std::size_t>(entry.size()), '\0');
  TRY(read_exactly(file, static_cast<std::uint64_t>(entry.offset()), stored.data(), stored.size()));
  std::string_view left = stored;
  std::vector<std::uint64_t> lengths;
  for (std::int64_t i = 0; i < value.size(); ++i) {
    TRY_ASSIGN(const std::uint64_t length, take_varint(left));
    const std::size_t bytes = length <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
    char counted[8];
    std::memcpy(counted, &length, sizeof counted);
    crc = extend_crc32c(crc, {counted, bytes});
    lengths.push_back(length);
  }
  if (left.size() < sizeof(std::uint32_t)) return out_of_range("Read less bytes than requested");
  std::uint32_t checksum;
  std::memcpy(&checksum, left.data(), sizeof checksum);
  if (unmask_crc(checksum) != crc) return data_loss("The length checksum does not match: expected {:08} but actual is {}", unmask_crc(checksum), crc);
  crc = extend_crc32c(crc, left.substr(0, sizeof checksum));
  left.remove_prefix(sizeof checksum);
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const std::uint64_t length = lengths[static_cast<std::size_t>(i)];
    if (length > left.size()) return out_of_range("Read less bytes than requested");
    value.mutable_data<std::string>()[i] = left.substr(0, static_cast<std::size_t>(length));
    crc = extend_crc32c(crc, left.substr(0, static_cast<std::size_t>(length)));
    left.remove_prefix(static_cast<std::size_t>(length));
  }
  return absl::OkStatus();
}

}  // namespace troupe
