// A file has a record for each element: its length, and a message with a tensor for each component; under snappy one with their sizes, then their bytes.
#include <troupe/ops/data/first_snapshot_files.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <google/protobuf/unknown_field_set.h>
#include <snappy.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

constexpr int tensor_field = 1, shape_field = 2, size_field = 3;

Status append_sized(const UnknownFieldSet& message, std::string& to) {
  std::string text;
  if (!message.SerializeToString(&text)) return internal("An element cannot be written down");
  const std::uint64_t size = text.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof size);
  to += text;
  return absl::OkStatus();
}

std::string proto_of(const Tensor& tensor) {
  wire::TensorProto proto;
  to_proto(tensor, &proto);
  return proto.SerializeAsString();
}

Status append_plain(const Tuple& element, std::string& to) {
  UnknownFieldSet record;
  for (const Tensor& component : element) record.AddLengthDelimited(tensor_field, proto_of(component));
  return append_sized(record, to);
}

Status append_snapped(const Tuple& element, std::string& to) {
  UnknownFieldSet record;
  std::string bytes, compressed;
  for (const Tensor& component : element) {
    wire::TensorShapeProto shape;
    to_proto(component.shape(), &shape);
    const std::size_t before = bytes.size();
    if (is_object(component.dtype())) bytes += proto_of(component);
    else if (component.bytes() > 0) bytes.append(static_cast<const char*>(component.raw()), component.bytes());
    UnknownFieldSet facts;
    facts.AddLengthDelimited(shape_field, shape.SerializeAsString());
    facts.AddVarint(size_field, bytes.size() - before);
    std::string text;
    if (!facts.SerializeToString(&text)) return internal("An element cannot be written down");
    record.AddLengthDelimited(tensor_field, text);
  }
  TRY(append_sized(record, to));
  snappy::Compress(bytes.data(), bytes.size(), &compressed);
  const std::uint64_t size = compressed.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof size);
  to += compressed;
  return absl::OkStatus();
}

class FirstReader final : public Producer {
 public:
  FirstReader(std::vector<std::string> files, std::string compression, std::vector<DType> types)
      : files_(std::move(files)), compression_(std::move(compression)), types_(std::move(types)) {}
  StatusOr<bool> next(Tuple& out) override {
    for (;;) {
      if (!bytes_) {
        if (at_ == files_.size()) return false;
        TRY_ASSIGN(bytes_, open_bytes(files_[at_++], compression_ == "GZIP" ? Compression::gzip : Compression::none));
      }
      TRY_ASSIGN(const bool more, compression_ == "SNAPPY" ? read_snapped(out) : read_plain(out));
      if (more) return true;
      bytes_.reset();
    }
  }

 private:
  StatusOr<bool> read_sized(std::string& to) {
    std::uint64_t size = 0;
    TRY(bytes_->read(sizeof size, to));
    if (to.empty()) return false;
    if (to.size() < sizeof size) return data_loss("A snapshot's record is cut");
    std::memcpy(&size, to.data(), sizeof size);
    TRY(bytes_->read(size, to));
    if (to.size() < size) return data_loss("A snapshot's record is cut");
    return true;
  }

  /// The texts of a message's only field.
  StatusOr<std::vector<std::string>> parts_of(const std::string& record) const {
    UnknownFieldSet fields;
    std::vector<std::string> parts;
    if (!fields.ParseFromString(record)) return data_loss("Could not parse SnapshotRecord");
    for (int i = 0; i < fields.field_count(); ++i)
      if (fields.field(i).number() == tensor_field && fields.field(i).type() == UnknownField::TYPE_LENGTH_DELIMITED)
        parts.push_back(fields.field(i).length_delimited());
    if (parts.size() != types_.size()) return data_loss("A snapshot has elements of {} components where {} are wanted", parts.size(), types_.size());
    return parts;
  }

  static StatusOr<Tensor> parsed(const std::string& text, DType type) {
    wire::TensorProto proto;
    if (!proto.ParseFromString(text)) return data_loss("Unable to parse tensor proto.");
    TRY_ASSIGN(Tensor value, tensor_from_proto(proto));
    if (value.dtype() != type) return data_loss("A snapshot has a {} where a {} is wanted", name_of(value.dtype()), name_of(type));
    return value;
  }

  StatusOr<bool> read_plain(Tuple& out) {
    std::string record;
    TRY_ASSIGN(const bool more, read_sized(record));
    if (!more) return false;
    TRY_ASSIGN(const auto parts, parts_of(record));
    for (std::size_t c = 0; c < parts.size(); ++c) {
      TRY_ASSIGN(Tensor value, parsed(parts[c], types_[c]));
      out.push_back(std::move(value));
    }
    return true;
  }

  StatusOr<bool> read_snapped(Tuple& out) {
    std::string record, compressed, bytes;
    TRY_ASSIGN(const bool more, read_sized(record));
    if (!more) return false;
    TRY_ASSIGN(const auto parts, parts_of(record));
    TRY_ASSIGN(const bool whole, read_sized(compressed));
    if (!whole || !snappy::Uncompress(compressed.data(), compressed.size(), &bytes)) return data_loss("Failed to decompress using snappy.");
    std::size_t at = 0;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      TRY_ASSIGN(Tensor value, component(parts[c], types_[c], bytes, at));
      out.push_back(std::move(value));
    }
    return true;
  }

  static StatusOr<Tensor> component(const std::string& facts, DType type, const std::string& bytes, std::size_t& at) {
    UnknownFieldSet fields;
    wire::TensorShapeProto proto;
    std::uint64_t size = 0;
    if (!fields.ParseFromString(facts)) return data_loss("Could not parse SnapshotTensorMetadata");
    for (int i = 0; i < fields.field_count(); ++i) {
      const UnknownField& field = fields.field(i);
      if (field.number() == size_field && field.type() == UnknownField::TYPE_VARINT) size = field.varint();
      if (field.number() == shape_field && field.type() == UnknownField::TYPE_LENGTH_DELIMITED && !proto.ParseFromString(field.length_delimited()))
        return data_loss("Could not parse SnapshotTensorMetadata");
    }
    if (size > bytes.size() - at) return data_loss("A snapshot's record is cut");
    const std::string_view own = std::string_view(bytes).substr(at, size);
    at += size;
    if (is_object(type)) return parsed(std::string(own), type);
    TRY_ASSIGN(const Shape shape, shape_from_proto(proto));
    if (own.size() / size_of(type) != static_cast<std::size_t>(shape.elements()) || own.size() % size_of(type) != 0)
      return data_loss("A snapshot has {} bytes for a {} of shape {}", own.size(), name_of(type), shape);
    Tensor value(type, shape);
    if (!own.empty()) std::memcpy(value.mutable_data<char>(), own.data(), own.size());
    return value;
  }

  std::vector<std::string> files_;
  std::string compression_;
  std::vector<DType> types_;
  std::unique_ptr<ByteSource> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

/// Without compression gzip's writer writes what it is given.
struct FirstSnapshotWriter::File {
  File(std::string n, gzFile f) : name(std::move(n)), file(f) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { (void)close(); }
  Status write(const std::string& bytes) {
    constexpr std::size_t most = 1u << 30;
    for (std::size_t at = 0; at < bytes.size(); at += most) {
      const auto n = static_cast<unsigned>(std::min(most, bytes.size() - at));
      if (gzwrite(file, bytes.data() + at, n) != static_cast<int>(n)) return data_loss("{} cannot be written", name);
    }
    return absl::OkStatus();
  }
  Status close() {
    if (!file) return absl::OkStatus();
    return gzclose(std::exchange(file, nullptr)) == Z_OK ? absl::OkStatus() : data_loss("{} cannot be written", name);
  }
  std::string name;
  gzFile file;
};

Status FirstSnapshotWriter::begin() {
  TRY(make_directories(run_));
  places_.resize(static_cast<std::size_t>(at_once_));
  for (Place& place : places_) TRY(open(place));
  return absl::OkStatus();
}

Status FirstSnapshotWriter::open(Place& place) {
  if (place.file) TRY(place.file->close());
  const std::string name = join_path(run_, fmt::format("{:08}.snapshot", files_++));
  TRY_ASSIGN(const std::string path, local_path(name));
  gzFile file = gzopen(path.c_str(), compression_ == "GZIP" ? "wb" : "wbT");
  if (!file) return errno_status(name, errno);
  place.file = std::make_shared<File>(name, file);
  place.bytes = 0;
  return absl::OkStatus();
}

StatusOr<bool> FirstSnapshotWriter::is_full(Place& place) const {
  if (place.ratio >= 0) return static_cast<double>(place.bytes) > place.ratio * static_cast<double>(largest_);
  if (place.bytes <= largest_) return false;
  gzflush(place.file->file, Z_SYNC_FLUSH);
  TRY_ASSIGN(const std::uint64_t size, file_size(place.file->name));
  place.ratio = static_cast<double>(place.bytes) / static_cast<double>(size);
  return static_cast<std::int64_t>(size) >= largest_;
}

Status FirstSnapshotWriter::write(const Tuple& element) {
  Place& place = places_[turn_++ % places_.size()];
  for (const Tensor& component : element) place.bytes += static_cast<std::int64_t>(component.bytes());
  TRY_ASSIGN(const bool full, is_full(place));
  if (full) TRY(open(place));
  std::string bytes;
  TRY(compression_ == "SNAPPY" ? append_snapped(element, bytes) : append_plain(element, bytes));
  return place.file->write(bytes);
}

Status FirstSnapshotWriter::finish() {
  for (Place& place : places_) TRY(place.file->close());
  return absl::OkStatus();
}

std::unique_ptr<Producer> first_snapshot_reader(std::vector<std::string> files, std::string compression, std::vector<DType> types) {
  return std::make_unique<FirstReader>(std::move(files), std::move(compression), std::move(types));
}

}  // namespace troupe
