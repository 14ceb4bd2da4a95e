// Elements are written some at a time on a thread that may block.
#include <troupe/ops/data/kept.hpp>
#include <troupe/ops/data/windows.hpp>
#include <troupe/ops/random/generator.hpp>

namespace troupe {
namespace {

class KeptPass final : public Source {
 public:
  static constexpr std::size_t at_once = 64;
  KeptPass(const DatasetPtr& input, Keeping keeping) : input_(input->open()), keeping_(std::move(keeping)) {
    SnapshotMetadata metadata;
    metadata.graph_hash = keeping_.graph_hash;
    metadata.run_id = std::to_string(entropy());
    metadata.types = input->element.types;
    desk_ = std::make_shared<Desk>(SnapshotWriter(keeping_.directory, keeping_.compression, std::move(metadata)));
    desk_->writer.counts = keeping_.counts;
  }
  Poll next(Reading& reading, Tuple& out) override {
    if (over_) return Poll::end;
    if (!begun_) {
      if (!work_.started()) work_.start(reading, [desk = desk_] { return desk->writer.begin(); });
      if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      begun_ = true;
    }
    for (;;) {
      if (work_.started()) {
        if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
        if (ended_) {
          over_ = true;
          return Poll::end;
        }
      }
      if (!ended_ && desk_->waiting.size() < at_once) {
        const Poll poll = pull(reading, out);
        if (poll != Poll::end) return poll;
        ended_ = true;
      }
      work_.start(reading, [desk = desk_, over = ended_] { return desk->write(over); });
    }
  }

 private:
  /// Touched by one thread at a time.
  struct Desk {
    explicit Desk(SnapshotWriter w) : writer(std::move(w)) {}
    SnapshotWriter writer;
    std::vector<std::pair<std::int64_t, Tuple>> waiting;
    Status write(bool over) {
      for (const auto& [shard, element] : std::exchange(waiting, {})) TRY(writer.write(shard, element));
      return over ? writer.finish() : absl::OkStatus();
    }
  };

  Poll pull(Reading& reading, Tuple& out) {
    if (!call_.started()) {
      if (const Poll poll = input_->next(reading, element_); poll != Poll::ready) return poll;
      if (!keeping_.shard) return put(keeping_.only_shard, out);
      call_.start(reading, *keeping_.shard, element_);
    }
    Tuple results;
    if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
    if (results.size() != 1 || results[0].dtype() != DType::i64 || results[0].size() != 1)
      return reading.fail(invalid("`shard_func` must return a scalar int64."));
    return put(results[0].item<std::int64_t>(), out);
  }
  Poll put(std::int64_t shard, Tuple& out) {
    out = element_;
    desk_->waiting.emplace_back(shard, std::move(element_));
    return Poll::ready;
  }

  SourcePtr input_;
  Keeping keeping_;
  std::shared_ptr<Desk> desk_;
  FunctionCall call_;
  BlockingWork work_;
  Tuple element_;
  bool begun_ = false, ended_ = false, over_ = false;
};

Dataset shard_dataset(const std::string& directory, const std::string& compression, const ElementFacts& facts) {
  Dataset dataset;
  dataset.kind = "SnapshotDatasetReader";
  dataset.element = facts;
  dataset.open = [directory, compression, n = facts.types.size()] { return read_ahead(shard_reader(directory, compression, n)); };
  return dataset;
}

class KeptBefore final : public Source {
 public:
  KeptBefore(std::string run, std::string compression, ElementFacts facts, Captured reader)
      : run_(std::move(run)), compression_(std::move(compression)), facts_(std::move(facts)), reader_(std::move(reader)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!made_)
      if (const Poll poll = make(reading); poll != Poll::ready) return poll;
    return made_->next(reading, out);
  }

 private:
  Poll make(Reading& reading) {
    if (!shards_) {
      if (!work_.started()) {
        found_ = std::make_shared<std::vector<std::string>>();
        work_.start(reading, [run = run_, found = found_]() -> Status {
          TRY_ASSIGN(*found, shard_directories(run));
          return absl::OkStatus();
        });
      }
      if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      shards_ = true;
    }
    if (!call_.started()) {
      std::vector<Tuple> all;
      for (const std::string& shard : *found_) all.push_back({to_tensor(shard_dataset(shard, compression_, facts_))});
      call_.start(reading, reader_, {to_tensor(window_of(std::move(all), {{DType::variant}, {PartialShape(Shape{})}}))});
    }
    Tuple results;
    if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
    if (results.size() != 1) return reading.fail(invalid("reader_func returns more than one output."));
    auto dataset = dataset_in(results[0]);
    if (!dataset.ok()) return reading.fail(dataset.status());
    made_ = (*dataset)->open();
    return Poll::ready;
  }

  std::string run_, compression_;
  ElementFacts facts_;
  Captured reader_;
  BlockingWork work_;
  FunctionCall call_;
  std::shared_ptr<std::vector<std::string>> found_;
  bool shards_ = false;
  SourcePtr made_;
};

}  // namespace

SourcePtr kept(const DatasetPtr& input, Keeping keeping) { return std::make_unique<KeptPass>(input, std::move(keeping)); }

SourcePtr kept_before(std::string run, std::string compression, ElementFacts facts, Captured reader) {
  return std::make_unique<KeptBefore>(std::move(run), std::move(compression), std::move(facts), std::move(reader));
}

}  // namespace troupe
