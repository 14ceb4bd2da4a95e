// Reading of checkpoints of version 2.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/checkpoint/byte_run.hpp>
#include <troupe/ops/checkpoint/ordered_code.hpp>
#include <troupe/ops/files/crc32c.hpp>

#include <algorithm>
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

/// The types of which TensorFlow reads parts that were not stored as such.
bool cut_out(DType type) {
  return visit_dtype(types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t, complex64, complex128, std::int64_t, bool, qint32,
                           quint8, qint8, bfloat16>{},
                     type, []<class T>() {});
}

/// How much of a tensor is read at a time where it has to go through other memory.
constexpr std::int64_t band_bytes = 1 << 20;

}  // namespace

StatusOr<BundleReader> BundleReader::open(const std::string& prefix) {
  const std::string file = bundle::index_file(prefix);
  auto index = TableReader::open(file);
  if (absl::IsDataLoss(index.status())) return append_text(index.status(), fmt::format(" (the index of a checkpoint, {})", file));
  TRY(index.status());
  BundleReader reader(prefix, *std::move(index));
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
  if (absl::IsDataLoss(found.status())) return append_text(found.status(), fmt::format(" (tensor {} in {})", key, bundle::index_file(prefix_)));
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
  const auto dtype = static_cast<DType>(entry.dtype());
  Tensor value;
  for (const TensorSlice& slice : *parts) {
    const std::string key = entry.slices_size() == 0 ? name : slice_key(name, slice);
    TRY_ASSIGN(const auto slice_entry, this->entry(key));
    TRY_ASSIGN(const Shape here, slice.shape_in(full));
    TRY_ASSIGN(const Shape stored_shape, shape_from_proto(slice_entry.shape()));
    if (stored_shape != here || slice_entry.dtype() != entry.dtype())
      return data_loss("Slice {} of tensor {} has a wrong shape or type", to_string(slice), name);
    if (here == part && slice.within(full) == wanted.within(full)) return read_entry(name, slice_entry);
    if (!cut_out(dtype)) return invalid("Dtype {} not supported.", name_of(dtype));
    if (!value.valid()) value = Tensor(dtype, part);
    TRY(located(read_bands(name, slice_entry, slice.within(full), value, wanted.within(full)), name, slice_entry));
  }
  return value.valid() ? value : Tensor(static_cast<DType>(entry.dtype()), part);
}

StatusOr<const RandomFile*> BundleReader::data_of(int shard) {
  if (auto found = data_.find(shard); found != data_.end()) return &found->second;
  TRY_ASSIGN(RandomFile file, RandomFile::open(bundle::data_file(prefix_, shard, header_.num_shards())));
  return &data_.emplace(shard, std::move(file)).first->second;
}

/// Damage is told with the tensor and the file that have it.
Status BundleReader::located(const Status& status, const std::string& name, const wire::BundleEntryProto& entry) const {
  if (!absl::IsDataLoss(status) && !absl::IsOutOfRange(status)) return status;
  return data_loss("{} (tensor {} in {})", text_of(status), name, bundle::data_file(prefix_, entry.shard_id(), header_.num_shards()));
}

Status BundleReader::check_sum(const wire::BundleEntryProto& entry, std::uint32_t crc) const {
  const std::uint32_t stored = unmask_crc(entry.crc32c());
  if (stored == crc) return absl::OkStatus();
  return data_loss("TensorBundle at {} shard {} ({} bytes): Checksum does not match: stored {:08} vs. calculated on the restored bytes {}", prefix_,
                   entry.shard_id(), entry.size(), stored, crc);
}

StatusOr<Tensor> BundleReader::read_entry(const std::string& name, const wire::BundleEntryProto& entry) {
  const auto dtype = static_cast<DType>(entry.dtype());
  if (dtype != DType::string && dtype != DType::variant && size_of(dtype) == 0)
    return unimplemented("Tensors of {} cannot be restored from a checkpoint", name_of(dtype));
  TRY_ASSIGN(const Shape shape, shape_from_proto(entry.shape()));
  Tensor value;
  const auto read = [&]() -> Status {
    TRY_ASSIGN(ByteRun bytes, bytes_of(name, entry, dtype, shape));
    value = Tensor(dtype, shape);
    std::uint32_t crc = 0;
    if (dtype == DType::string) {
      TRY(read_strings(bytes, value, crc));
    } else if (dtype == DType::variant) {
      TRY(read_variants(bytes, value, crc));
    } else {
      TRY(bytes.read(value.mutable_data<char>(), value.bytes()));
      crc = crc32c({value.data<char>(), value.bytes()});
    }
    return check_sum(entry, crc);
  };
  TRY(located(read(), name, entry));
  return value;
}

StatusOr<ByteRun> BundleReader::bytes_of(const std::string& name, const wire::BundleEntryProto& entry, DType dtype, const Shape& shape) {
  if (entry.offset() < 0 || entry.size() < 0)
    return data_loss("Invalid place in bundle entry: key {}; offset {}; size {}", name, entry.offset(), entry.size());
  TRY_ASSIGN(const RandomFile* file, data_of(entry.shard_id()));
  TRY_ASSIGN(const std::uint64_t there, file->size());
  const auto offset = static_cast<std::uint64_t>(entry.offset()), size = static_cast<std::uint64_t>(entry.size());
  if (offset > there || size > there - offset) return out_of_range("Read less bytes than requested");
  const auto expected = static_cast<unsigned __int128>(shape.elements()) * size_of(dtype);
  if (is_object(dtype) && shape.elements() > entry.size()) return data_loss("Invalid size in bundle entry: key {}; stored size {}", name, size);
  if (!is_object(dtype) && expected != size)
    return data_loss("Invalid size in bundle entry: key {}; stored size {}; expected size {}", name, size, static_cast<std::uint64_t>(expected));
  return ByteRun(*file, offset, size);
}

/// Copies what a stored part has of a wanted one, a few rows at a time: the part is never in memory as a whole.
Status BundleReader::read_bands(const std::string& name, const wire::BundleEntryProto& entry, const TensorSlice& stored, Tensor& to,
                                const TensorSlice& wanted) {
  TRY_ASSIGN(const Shape shape, shape_from_proto(entry.shape()));
  TRY_ASSIGN(ByteRun bytes, bytes_of(name, entry, to.dtype(), shape));
  const std::int64_t rows = shape.rank() == 0 ? 1 : shape.dim(0);
  const std::int64_t row_bytes = rows == 0 ? 1 : entry.size() / rows;
  const std::int64_t at_once = std::clamp<std::int64_t>(band_bytes / std::max<std::int64_t>(row_bytes, 1), 1, std::max<std::int64_t>(rows, 1));
  std::uint32_t crc = 0;
  for (std::int64_t row = 0; row < rows; row += at_once) {
    const TensorSlice band = stored.rows(row, std::min(at_once, rows - row));
    Shape band_shape;
    for (const auto& extent : band.extents()) band_shape.add_dim(extent.length);
    Tensor part(to.dtype(), band_shape);
    TRY(bytes.read(part.mutable_data<char>(), part.bytes()));
    crc = extend_crc32c(crc, {part.data<char>(), part.bytes()});
    copy_common(part, band, to, wanted);
  }
  return check_sum(entry, crc);
}

Status BundleReader::read_strings(ByteRun& bytes, Tensor& value, std::uint32_t& crc) {
  std::string* const strings = value.mutable_data<std::string>();
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < value.size(); ++i) {
    TRY_ASSIGN(const std::uint64_t length, bytes.read_varint());
    const std::size_t counted_bytes = length <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
    char counted[8];
    std::memcpy(counted, &length, sizeof counted);
    crc = extend_crc32c(crc, {counted, counted_bytes});
    // A length that is damaged must not ask for memory.
    if (length > bytes.left() || (total += length) > bytes.left()) return out_of_range("Read less bytes than requested");
    strings[i].resize(static_cast<std::size_t>(length));
  }
  char checksum[sizeof(std::uint32_t)];
  TRY(bytes.read(checksum, sizeof checksum));
  std::uint32_t stored;
  std::memcpy(&stored, checksum, sizeof stored);
  if (unmask_crc(stored) != crc) return data_loss("The length checksum does not match: expected {:08} but actual is {}", unmask_crc(stored), crc);
  crc = extend_crc32c(crc, {checksum, sizeof checksum});
  for (std::int64_t i = 0; i < value.size(); ++i) {
    TRY(bytes.read(strings[i].data(), strings[i].size()));
    crc = extend_crc32c(crc, strings[i]);
  }
  return absl::OkStatus();
}

Status BundleReader::read_variants(ByteRun& bytes, Tensor& value, std::uint32_t& crc) {
  for (std::int64_t i = 0; i < value.size(); ++i) {
    TRY_ASSIGN(const std::uint64_t length, bytes.read_varint());
    if (length > bytes.left()) return out_of_range("Read less bytes than requested");
    std::string content(static_cast<std::size_t>(length), '\0');
    TRY(bytes.read(content.data(), content.size()));
    char counted[sizeof length], checksum[sizeof(std::uint32_t)];
    std::memcpy(counted, &length, sizeof counted);
    crc = extend_crc32c(extend_crc32c(crc, {counted, sizeof counted}), content);
    TRY(bytes.read(checksum, sizeof checksum));
    std::uint32_t stored;
    std::memcpy(&stored, checksum, sizeof stored);
    if (unmask_crc(stored) != crc)
      return data_loss("The checksum after Variant {} does not match. Expected {:08} but got {}.", i, unmask_crc(stored), crc);
    crc = extend_crc32c(crc, {checksum, sizeof checksum});
    TRY_ASSIGN(const Tensor alone, decode_objects(DType::variant, Shape{}, bundle::with_length(content)));
    value.mutable_data<Variant>()[i] = alone.item<Variant>();
  }
  return absl::OkStatus();
}

}  // namespace troupe
