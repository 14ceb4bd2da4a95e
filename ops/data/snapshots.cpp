// Datasets that are written down by the first complete pass and read from there by later ones, in this process or another.
#include <troupe/ops/data/kept.hpp>
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/random/generator.hpp>

namespace troupe {
namespace {

struct Snapshot {
  DatasetPtr input;
  std::string directory;  // of this dataset
  std::string compression, graph_hash;
  Captured reader, shard;
};

/// Looks first whether there is a complete run.
class Snapped final : public Source {
 public:
  explicit Snapped(std::shared_ptr<const Snapshot> snapshot) : snapshot_(std::move(snapshot)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!pass_)
      if (const Poll poll = choose(reading); poll != Poll::ready) return poll;
    return pass_->next(reading, out);
  }

 private:
  Poll choose(Reading& reading) {
    if (!work_.started()) {
      found_ = std::make_shared<SnapshotMetadata>();
      work_.start(reading, [found = found_, directory = snapshot_->directory]() -> Status {
        if (!file_exists(metadata_file(directory))) return absl::OkStatus();
        TRY_ASSIGN(*found, read_metadata(directory));
        return absl::OkStatus();
      });
    }
    if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
    const Snapshot& s = *snapshot_;
    if (found_->finalized) pass_ = kept_before(run_directory(s.directory, found_->run_id), s.compression, s.input->element, s.reader);
    else pass_ = kept(s.input, {s.directory, s.compression, s.graph_hash, s.shard});
    return Poll::ready;
  }

  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<SnapshotMetadata> found_;
  BlockingWork work_;
  SourcePtr pass_;
};

}  // namespace

void add_snapshot_datasets(Registry& ops) {
  ops.add("SnapshotDatasetV2",
          [](Call& call, Step& step, DatasetIn input, Number<std::string> path, List reader_more, List shard_more,
             Attr<"reader_func", wire::NameAttrList> reader, Attr<"shard_func", wire::NameAttrList> shard,
             Attr<"compression", std::string> compression, Attr<"hash_valid", bool> hash_valid, Attr<"hash", std::int64_t> hash) -> Status {
            auto snapshot = std::make_shared<Snapshot>();
            snapshot->input = input;
            // A dataset that cannot be known again has a directory of its own.
            const std::uint64_t print = *hash_valid ? static_cast<std::uint64_t>(*hash) : input->fingerprint != 0 ? input->fingerprint : entropy();
            snapshot->graph_hash = std::to_string(print);
            snapshot->directory = join_path(*path, snapshot->graph_hash);
            snapshot->compression = *compression == "AUTO" ? "SNAPPY" : *compression;
            TRY_ASSIGN(snapshot->reader, capture(step, *reader, reader_more));
            TRY_ASSIGN(snapshot->shard, capture(step, *shard, shard_more));
            Dataset dataset = over(input, "Snapshot");
            dataset.functions = {snapshot->reader.function, snapshot->shard.function};
            dataset.open = [snapshot] { return std::make_unique<Snapped>(snapshot); };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
