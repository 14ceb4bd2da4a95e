// A file of elements is one of records: a tensor's wire form for each component.
#include <troupe/ops/data/snapshot_files.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/files/snappy_blocks.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <chrono>

namespace troupe {
namespace {

constexpr int hash_field = 1, run_field = 2, created_field = 3, version_field = 4, types_field = 5, elements_field = 6, finalized_field = 1000;

bool snappy_named(const std::string& compression) { return compression == "SNAPPY"; }
Compression deflated_named(const std::string& compression) {
  if (compression == "GZIP") return Compression::gzip;
  return compression == "ZLIB" ? Compression::zlib : Compression::none;
}

std::string chunk_file(const std::string& shard, std::size_t chunk) { return join_path(shard, fmt::format("{:08}.snapshot", chunk)); }

class ChunkReader final : public Producer {
 public:
  ChunkReader(std::string file, std::string compression, std::size_t components)
      : file_(std::move(file)), compression_(std::move(compression)), components_(components) {}
  StatusOr<bool> next(Tuple& out) override {
    if (components_ == 0) return false;
    if (!reader_) {
      TRY_ASSIGN(auto bytes, open_bytes(file_, deflated_named(compression_)));
      reader_.emplace(snappy_named(compression_) ? unsnapped(std::move(bytes)) : std::move(bytes));
    }
    for (std::size_t c = 0; c < components_; ++c) {
      std::string record;
      TRY_ASSIGN(const bool more, reader_->next(record));
      if (!more) return false;
      wire::TensorProto proto;
      if (!proto.ParseFromString(record)) return data_loss("Unable to parse tensor proto.");
      TRY_ASSIGN(Tensor value, tensor_from_proto(proto));
      out.push_back(std::move(value));
    }
    return true;
  }

 private:
  std::string file_, compression_;
  std::size_t components_;
  std::optional<RecordReader> reader_;
};

class ShardReader final : public Producer {
 public:
  ShardReader(std::string directory, std::string compression, std::size_t components)
      : directory_(std::move(directory)), compression_(std::move(compression)), components_(components) {}
  StatusOr<bool> next(Tuple& out) override {
    for (;;) {
      if (!chunk_) {
        const std::string file = chunk_file(directory_, at_);
        if (at_ > 0 && !file_exists(file)) return false;
        chunk_ = chunk_reader(file, compression_, components_);
      }
      TRY_ASSIGN(const bool more, chunk_->next(out));
      if (more) return true;
      out.clear();
      chunk_.reset();
      ++at_;
    }
  }

 private:
  std::string directory_, compression_;
  std::size_t components_, at_ = 0;
  std::unique_ptr<Producer> chunk_;
};

}  // namespace

std::string metadata_file(const std::string& directory) { return join_path(directory, "snapshot.metadata"); }
std::string run_directory(const std::string& directory, const std::string& run_id) { return join_path(directory, run_id); }

Status write_metadata(const std::string& directory, const SnapshotMetadata& metadata) {
  google::protobuf::UnknownFieldSet fields;
  auto number = [&](int field, std::int64_t value) {
    if (value != 0) fields.AddVarint(field, static_cast<std::uint64_t>(value));
  };
  if (!metadata.graph_hash.empty()) fields.AddLengthDelimited(hash_field, metadata.graph_hash);
  if (!metadata.run_id.empty()) fields.AddLengthDelimited(run_field, metadata.run_id);
  number(created_field, metadata.created);
  number(version_field, metadata.version);
  std::string types;
  for (DType type : metadata.types) types += static_cast<char>(type);
  if (!types.empty()) fields.AddLengthDelimited(types_field, types);
  number(elements_field, metadata.elements);
  number(finalized_field, metadata.finalized ? 1 : 0);
  std::string text;
  if (!fields.SerializeToString(&text)) return internal("Metadata of a snapshot cannot be written down");
  TRY(make_directories(directory));
  // Nobody sees half of it.
  const std::string part = metadata_file(directory) + ".part";
  TRY(write_file(part, text));
  return rename_file(part, metadata_file(directory));
}

StatusOr<SnapshotMetadata> read_metadata(const std::string& directory) {
  TRY_ASSIGN(const std::string text, read_file(metadata_file(directory)));
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromString(text)) return data_loss("Can't parse {} as binary proto", metadata_file(directory));
  SnapshotMetadata metadata;
  metadata.version = 0;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    const bool number = field.type() == google::protobuf::UnknownField::TYPE_VARINT;
    const bool bytes = field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (bytes && field.number() == hash_field) metadata.graph_hash = field.length_delimited();
    if (bytes && field.number() == run_field) metadata.run_id = field.length_delimited();
    if (number && field.number() == created_field) metadata.created = static_cast<std::int64_t>(field.varint());
    if (number && field.number() == version_field) metadata.version = static_cast<std::int64_t>(field.varint());
    if (number && field.number() == elements_field) metadata.elements = static_cast<std::int64_t>(field.varint());
    if (number && field.number() == finalized_field) metadata.finalized = field.varint() != 0;
  }
  return metadata;
}

StatusOr<std::vector<std::string>> shard_directories(const std::string& run) {
  TRY_ASSIGN(auto found, matching_files(join_path(run, "*.shard")));
  std::sort(found.begin(), found.end());
  return found;
}

/// The one file of a shard.
struct SnapshotWriter::Shard {
  std::optional<RecordWriter> records;
  std::ofstream blocks;  // under snappy instead
  std::string waiting, file;

  Status put(bool all) {
    constexpr std::size_t enough = 128 * 1024;
    if (waiting.empty() || (!all && waiting.size() < enough)) return absl::OkStatus();
    std::string out;
    append_snappy_blocks(waiting, out);
    waiting.clear();
    blocks.write(out.data(), static_cast<std::streamsize>(out.size()));
    if (all) blocks.flush();
    return blocks ? absl::OkStatus() : data_loss("{} cannot be written", file);
  }
};

Status SnapshotWriter::begin() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  metadata_.created = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  TRY(make_directories(run_directory(directory_, metadata_.run_id)));
  return write_metadata(directory_, metadata_);
}

Status SnapshotWriter::write(std::int64_t shard, const Tuple& element) {
  const auto number = static_cast<std::uint64_t>(shard);
  auto& to = shards_[number];
  if (!to) {
    auto made = std::make_shared<Shard>();
    const std::string directory = join_path(run_directory(directory_, metadata_.run_id), fmt::format("{:08}.shard", number));
    TRY(make_directories(directory));
    made->file = chunk_file(directory, 0);
    if (snappy_named(compression_)) {
      TRY_ASSIGN(const std::string path, local_path(made->file));
      made->blocks.open(path, std::ios::binary | std::ios::trunc);
      if (!made->blocks) return errno_status(made->file, errno);
    } else {
      TRY_ASSIGN(RecordWriter records, RecordWriter::create(made->file, deflated_named(compression_)));
      made->records.emplace(std::move(records));
    }
    to = std::move(made);
  }
  ++metadata_.elements;
  for (const Tensor& component : element) {
    wire::TensorProto proto;
    to_proto(component, &proto);
    const std::string record = proto.SerializeAsString();
    if (to->records) TRY(to->records->write(record));
    else append_record(record, to->waiting);
  }
  return to->put(false);
}

Status SnapshotWriter::finish() {
  for (auto& [number, shard] : std::exchange(shards_, {})) TRY(shard->records ? shard->records->close() : shard->put(true));
  if (!counts) metadata_.elements = 0;
  metadata_.finalized = true;
  return write_metadata(directory_, metadata_);
}

std::unique_ptr<Producer> chunk_reader(std::string file, std::string compression, std::size_t components) {
  return std::make_unique<ChunkReader>(std::move(file), std::move(compression), components);
}

std::unique_ptr<Producer> shard_reader(std::string directory, std::string compression, std::size_t components) {
  return std::make_unique<ShardReader>(std::move(directory), std::move(compression), components);
}

}  // namespace troupe
