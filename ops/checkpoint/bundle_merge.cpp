// Checkpoints that several tasks wrote become one.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>

namespace troupe {
namespace {

struct Merged {
  std::map<std::string, wire::BundleEntryProto> entries;
  std::vector<std::string> data;  // files, by their shard in the whole
  std::map<std::string, int> shards;

  int shard_of(const std::string& file) {
    const auto [at, fresh] = shards.emplace(file, static_cast<int>(data.size()));
    if (fresh) data.push_back(file);
    return at->second;
  }

  Status add(const std::string& prefix, int count, const std::string& key, wire::BundleEntryProto entry) {
    if (entry.slices_size() == 0) {
      entry.set_shard_id(shard_of(bundle::data_file(prefix, entry.shard_id(), count)));
      if (!entries.emplace(key, std::move(entry)).second)
        return invalid("Duplicate tensor keyed by {} encountered, when merging prefix: {}", key, prefix);
      return absl::OkStatus();
    }
    const auto [at, fresh] = entries.emplace(key, entry);
    if (fresh) return absl::OkStatus();
    wire::BundleEntryProto& known = at->second;
    if (known.slices_size() == 0) return invalid("Duplicate tensor keyed by {} encountered, when merging prefix: {}", key, prefix);
    if (known.dtype() != entry.dtype() || partial_shape_from_proto(known.shape()) != partial_shape_from_proto(entry.shape()))
      return invalid("Slices of tensor {} differ in type or shape, when merging prefix: {}", key, prefix);
    known.mutable_slices()->MergeFrom(entry.slices());
    return absl::OkStatus();
  }
};

}  // namespace

Status merge_bundles(const std::vector<std::string>& prefixes, const std::string& merged, bool allow_missing) {
  Merged whole;
  std::vector<std::string> found;
  for (const std::string& prefix : prefixes) {
    if (!file_exists(bundle::index_file(prefix))) {
      if (allow_missing) continue;
      return invalid("allow_missing_files was set to false and {} did not exist.NOT_FOUND: {} not found", prefix, prefix);
    }
    TRY_ASSIGN(BundleReader reader, BundleReader::open(prefix));
    const int count = reader.header().num_shards();
    TRY(reader.each([&](const std::string& key, const wire::BundleEntryProto& entry) { return whole.add(prefix, count, key, entry); }));
    found.push_back(prefix);
  }
  if (found.empty()) return invalid("At least one prefix checkpoint file must exist, but none existed.");
  TRY(bundle::make_place_for(merged));
  const int shards = static_cast<int>(whole.data.size());
  TRY_ASSIGN(TableWriter index, bundle::write_index(merged, shards, whole.entries));
  for (int i = 0; i < shards; ++i) TRY(rename_file(whole.data[static_cast<std::size_t>(i)], bundle::data_file(merged, i, shards)));
  TRY(index.commit());
  for (const std::string& prefix : found)
    if (prefix != merged) delete_file(bundle::index_file(prefix)).IgnoreError();
  return absl::OkStatus();
}

}  // namespace troupe
