// Checkpoints of version 2: an index of tensors by name, and files with their bytes.
#pragma once

#include <troupe/wire/checkpoint.pb.h>
#include <troupe/ops/checkpoint/byte_run.hpp>
#include <troupe/ops/checkpoint/new_file.hpp>
#include <troupe/ops/checkpoint/table_file.hpp>
#include <troupe/ops/checkpoint/tensor_slice.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe {

namespace bundle {
inline constexpr int version = 1;
std::string index_file(const std::string& prefix);
std::string data_file(const std::string& prefix, int shard, int shards);
/// The bytes of one object after their number.
std::string with_length(std::string_view content);
/// Files have these at the empty key.
wire::BundleHeaderProto header_of(int shards);
/// Makes the directory that a prefix names, one level at most.
Status make_place_for(const std::string& prefix);
/// The index, complete but for its name: who commits it makes the checkpoint visible.
StatusOr<TableWriter> write_index(const std::string& prefix, int shards, const std::map<std::string, wire::BundleEntryProto>& entries);
}  // namespace bundle

/// Writes a checkpoint of one shard; nothing is left of one that is not finished.
class BundleWriter {
 public:
  static StatusOr<BundleWriter> create(const std::string& prefix);
  Status add(const std::string& key, const Tensor& value);
  Status add_slice(const std::string& key, const Shape& full, const TensorSlice& slice, const Tensor& value);
  Status finish();

 private:
  BundleWriter(std::string prefix, NewFile data) : prefix_(std::move(prefix)), data_(std::move(data)) {}
  /// The checksum of what was written.
  StatusOr<std::uint32_t> write_plain(const Tensor& value);
  StatusOr<std::uint32_t> write_strings(const Tensor& value);
  StatusOr<std::uint32_t> write_variants(const Tensor& value);

  std::string prefix_;
  NewFile data_;
  std::map<std::string, wire::BundleEntryProto> entries_;
};

class BundleReader {
 public:
  static StatusOr<BundleReader> open(const std::string& prefix);

  const wire::BundleHeaderProto& header() const { return header_; }
  /// NOT_FOUND when there is no such key.
  StatusOr<wire::BundleEntryProto> entry(const std::string& key);
  /// The whole tensor of a name, put together where it was kept in parts.
  StatusOr<Tensor> read(const std::string& name);
  StatusOr<Tensor> read_slice(const std::string& name, const TensorSlice& slice);
  /// All entries but the header.
  Status each(const std::function<Status(const std::string& key, const wire::BundleEntryProto& entry)>& visit);

 private:
  BundleReader(std::string prefix, TableReader index) : prefix_(std::move(prefix)), index_(std::move(index)) {}
  StatusOr<Tensor> read_entry(const std::string& name, const wire::BundleEntryProto& entry);
  Status read_bands(const std::string& name, const wire::BundleEntryProto& entry, const TensorSlice& stored, Tensor& to, const TensorSlice& wanted);
  static Status read_strings(ByteRun& bytes, Tensor& value, std::uint32_t& crc);
  static Status read_variants(ByteRun& bytes, Tensor& value, std::uint32_t& crc);
  StatusOr<ByteRun> bytes_of(const std::string& name, const wire::BundleEntryProto& entry, DType dtype, const Shape& shape);
  Status check_sum(const wire::BundleEntryProto& entry, std::uint32_t crc) const;
  Status located(const Status& status, const std::string& name, const wire::BundleEntryProto& entry) const;
  StatusOr<Tensor> read_parts(const std::string& name, const wire::BundleEntryProto& entry, const TensorSlice& wanted);
  StatusOr<const RandomFile*> data_of(int shard);

  std::string prefix_;
  TableReader index_;
  wire::BundleHeaderProto header_;
  std::map<int, RandomFile> data_;
};

/// Makes one checkpoint of several; their data files become its shards. Missing ones are left out where that is allowed.
Status merge_bundles(const std::vector<std::string>& prefixes, const std::string& merged, bool allow_missing);

}  // namespace troupe
