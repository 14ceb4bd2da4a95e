// Datasets in directories: <path>/snapshot.metadata, <path>/<run>/<shard>.shard/<chunk>.snapshot, as TensorFlow writes and reads them.
#pragma once

#include <troupe/ops/data/ahead.hpp>
#include <troupe/ops/files/records.hpp>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace troupe {

struct SnapshotMetadata {
  std::string graph_hash, run_id;
  std::int64_t created = 0;  // microseconds
  std::int64_t version = 2;
  std::vector<DType> types;
  std::int64_t elements = 0;
  bool finalized = false;
};

std::string metadata_file(const std::string& directory);
Status write_metadata(const std::string& directory, const SnapshotMetadata& metadata);
/// NOT_FOUND where there is none.
StatusOr<SnapshotMetadata> read_metadata(const std::string& directory);
std::string run_directory(const std::string& directory, const std::string& run_id);
/// The shards of a run in the order of their names.
StatusOr<std::vector<std::string>> shard_directories(const std::string& run);

/// The elements of a run on their way to its shards. Everything here may block.
class SnapshotWriter {
 public:
  /// Known are "", GZIP, ZLIB and SNAPPY; all else is not compressed.
  SnapshotWriter(std::string directory, std::string compression, SnapshotMetadata metadata)
      : directory_(std::move(directory)), compression_(std::move(compression)), metadata_(std::move(metadata)) {}
  /// Says in the metadata that a run has begun.
  Status begin();
  Status write(std::int64_t shard, const Tuple& element);
  /// Closes all files and says that the run is complete.
  Status finish();
  /// Numbers of elements are written down only where they are asked for.
  bool counts = false;

 private:
  struct Shard;
  std::string directory_, compression_;
  SnapshotMetadata metadata_;
  std::map<std::uint64_t, std::shared_ptr<Shard>> shards_;
};

/// Reads one file of elements, or all of a shard's.
std::unique_ptr<Producer> chunk_reader(std::string file, std::string compression, std::size_t components);
std::unique_ptr<Producer> shard_reader(std::string directory, std::string compression, std::size_t components);

}  // namespace troupe
