// Whole datasets saved to directories and loaded from there.
#include <troupe/ops/data/kept.hpp>
#include <troupe/ops/files/local_files.hpp>

namespace troupe {
namespace {

using Function = Attr<"shard_func", wire::NameAttrList>;

/// A pass whose elements nobody wants.
Poll to_the_end(Reading& reading, Source& source) {
  for (;;) {
    Tuple element;
    if (const Poll poll = source.next(reading, element); poll != Poll::ready) return poll;
  }
}

struct Loading {
  BlockingWork work;
  std::shared_ptr<SnapshotMetadata> metadata = std::make_shared<SnapshotMetadata>();
};

Dataset read_from(ElementFacts facts, const char* kind, std::function<std::unique_ptr<Producer>()> reader) {
  Dataset dataset;
  dataset.kind = kind;
  dataset.element = std::move(facts);
  dataset.open = [reader = std::move(reader)] { return read_ahead(reader()); };
  return dataset;
}

}  // namespace

void add_saved_datasets(Registry& ops) {
  ops.add("SaveDataset", [](Call&, Step& step, DatasetIn input, Number<std::string> path, List more, Attr<"compression", std::string> compression,
                            Function shard, Attr<"use_shard_func", bool> sharded, Done done) {
    Keeping keeping{*path, *compression, "", std::nullopt, 0, true};
    if (*sharded) {
      auto function = capture(step, *shard, more);
      if (!function.ok()) return done(function.status());
      keeping.shard = *std::move(function);
    }
    std::shared_ptr<Source> pass = kept(input, std::move(keeping));
    Reading::start(
        step, std::make_shared<Instances>(), [pass](Reading& reading) { return to_the_end(reading, *pass); },
        [pass, done = std::move(done)](Poll, Status status) { done(std::move(status)); });
  });
  ops.add("SaveDatasetV2",
          [](Call& call, Step& step, DatasetIn input, Number<std::string> path, List more, Attr<"compression", std::string> compression,
             Function shard, Attr<"use_shard_func", bool> sharded) -> Status {
            Keeping keeping{*path, *compression, "", std::nullopt, 1, true};
            if (*sharded) {
              TRY_ASSIGN(keeping.shard, capture(step, *shard, more));
            }
            Dataset dataset = over(input, "Save");
            if (keeping.shard) dataset.functions = {keeping.shard->function};
            dataset.open = [input = input.dataset, keeping] { return kept(input, keeping); };
            return give(call, std::move(dataset));
          });
  ops.add("LoadDataset", [](Call& call, Step& step, Number<std::string> path, List more, Attr<"reader_func", wire::NameAttrList> reader,
                            Attr<"compression", std::string> compression, Elements elements, Done done) {
    auto function = capture(step, *reader, more);
    if (!function.ok()) return done(function.status());
    auto loading = std::make_shared<Loading>();
    auto attempt = [loading, path = *path](Reading& reading) {
      if (!loading->work.started())
        loading->work.start(reading, [metadata = loading->metadata, path]() -> Status {
          if (!file_exists(metadata_file(path))) return not_found("Could not find metadata file [{}]", path);
          TRY_ASSIGN(*metadata, read_metadata(path));
          return absl::OkStatus();
        });
      return loading->work.take(reading);
    };
    Reading::start(step, std::make_shared<Instances>(), attempt,
                   [loading, &call, path = *path, facts = elements.facts, compression = *compression, function = *std::move(function),
                    done = std::move(done)](Poll, Status status) {
                     if (!status.ok()) return done(std::move(status));
                     Dataset dataset;
                     dataset.kind = "Load";
                     dataset.element = facts;
                     dataset.cardinality = loading->metadata->elements;
                     dataset.functions = {function.function};
                     dataset.open = [run = run_directory(path, loading->metadata->run_id), compression, facts, function] {
                       return kept_before(run, compression, facts, function);
                     };
                     done(give(call, std::move(dataset)));
                   });
  });
  ops.add("SnapshotDatasetReader",
          [](Call& call, Number<std::string> shard, Number<std::int64_t>, Attr<"compression", std::string> compression,
             Attr<"version", std::int64_t> version, Elements elements) -> Status {
            if (*version != 2) return unimplemented("Snapshots of version {} are not read", *version);
            return give(call, read_from(elements, "SnapshotDatasetReader", [shard = *shard, compression = *compression, n = elements->types.size()] {
                          return shard_reader(shard, compression, n);
                        }));
          });
  ops.add("SnapshotChunkDataset", [](Call& call, Number<std::string> chunk, Attr<"compression", std::string> compression, Elements elements) {
    return give(call, read_from(elements, "SnapshotChunk", [chunk = *chunk, compression = *compression, n = elements->types.size()] {
                  return chunk_reader(chunk, compression, n);
                }));
  });
}

}  // namespace troupe
