// Datasets that are written down while they are first read, in the first form of that: later passes read what is complete.
#include <troupe/ops/data/first_snapshot_files.hpp>
#include <troupe/ops/data/seeds.hpp>
#include <troupe/ops/data/to_graph.hpp>
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/function_fingerprint.hpp>

#include <algorithm>
#include <chrono>
#include <random>

namespace troupe {
namespace {

struct FirstSnapshot {
  static constexpr std::int64_t usual_largest = std::int64_t{10} << 30, usual_expiry = 86400;

  std::string compression, reader_prefix, writer_prefix, mode, name;
  std::int64_t largest = usual_largest, expiry = usual_expiry, writers = 1, seed = 0, seed2 = 0;
  bool shuffled = false;
  DatasetPtr input;
  std::string path, hash;

  static StatusOr<FirstSnapshot> make(Binding& binding) {
    FirstSnapshot s;
    TRY_ASSIGN(s.compression, binding.attr<std::string>("compression"));
    TRY_ASSIGN(s.reader_prefix, binding.attr<std::string>("reader_path_prefix"));
    TRY_ASSIGN(s.writer_prefix, binding.attr<std::string>("writer_path_prefix"));
    TRY_ASSIGN(s.mode, binding.attr<std::string>("mode"));
    TRY_ASSIGN(s.name, binding.attr<std::string>("snapshot_name"));
    TRY_ASSIGN(s.seed, binding.attr<std::int64_t>("seed"));
    TRY_ASSIGN(s.seed2, binding.attr<std::int64_t>("seed2"));
    TRY_ASSIGN(s.shuffled, binding.attr<bool>("shuffle_on_read"));
    TRY(s.number(binding, "shard_size_bytes", s.largest));
    TRY(s.number(binding, "pending_snapshot_expiry_seconds", s.expiry));
    TRY(s.number(binding, "num_writer_threads", s.writers));
    s.writers = std::clamp<std::int64_t>(s.writers, 1, 64);
    constexpr std::int64_t longest = 1'000'000'000'000;
    s.expiry = std::clamp(s.expiry, -longest, longest);
    if (s.mode != "auto" && s.mode != "read" && s.mode != "write" && s.mode != "passthrough")
      return invalid("mode must be either 'auto', 'read', 'write', or 'passthrough'.");
    if (s.compression != "" && s.compression != "GZIP" && s.compression != "SNAPPY")
      return invalid("compression must be either '', 'GZIP' or 'SNAPPY'.");
    return s;
  }

  std::string directory() const { return join_path(path, name.empty() ? hash : "custom-" + name); }
  std::string run(const std::string& prefix, const std::string& id) const {
    return prefix.empty() ? join_path(directory(), id) : join_path(prefix, join_path(directory(), id));
  }

 private:
  /// -1 stands for the usual number.
  static Status number(Binding& binding, const char* attr, std::int64_t& to) {
    TRY_ASSIGN(const std::int64_t value, binding.attr<std::int64_t>(attr));
    if (value != -1) to = value;
    return absl::OkStatus();
  }
};
using SnapshotPtr = std::shared_ptr<const FirstSnapshot>;

std::string in_hex(std::uint64_t number) { return fmt::format("{:x}", number); }

std::int64_t now_in_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Gives the input's elements and writes them down.
class Writing final : public Source {
 public:
  explicit Writing(SnapshotPtr snapshot) : desk_(std::make_shared<Desk>(snapshot)), input_(snapshot->input->open()) {}
  Poll next(Reading& reading, Tuple& out) override {
    constexpr std::size_t at_once = 64;
    for (;;) {
      if (work_.started())
        if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      if (over_) return Poll::end;
      if (begun_ && desk_->waiting.size() < at_once) {
        Tuple element;
        const Poll poll = input_->next(reading, element);
        if (poll == Poll::ready) {
          out = element;
          desk_->waiting.push_back(std::move(element));
        }
        if (poll != Poll::end) return poll;
        over_ = true;
      }
      work_.start(reading, [desk = desk_, begun = std::exchange(begun_, true), over = over_] { return begun ? desk->write(over) : desk->begin(); });
    }
  }

 private:
  /// Touched by one thread at a time.
  struct Desk {
    explicit Desk(SnapshotPtr s)
        : snapshot(std::move(s)),
          id(snapshot->name.empty() ? in_hex(entropy()) : "custom"),
          writer(snapshot->run(snapshot->writer_prefix, id), snapshot->compression, snapshot->largest, snapshot->writers) {
      metadata.graph_hash = snapshot->hash;
      metadata.run_id = id;
      metadata.version = 1;
      metadata.types = snapshot->input->element.types;
    }
    Status begin() {
      TRY(writer.begin());
      metadata.created = now_in_microseconds();
      return write_metadata(snapshot->directory(), metadata);
    }
    Status write(bool over) {
      for (const Tuple& element : std::exchange(waiting, {})) TRY(writer.write(element));
      if (!over) return absl::OkStatus();
      TRY(writer.finish());
      // Another pass may have begun to write since: its run is the one that counts.
      TRY_ASSIGN(const SnapshotMetadata last, read_metadata(snapshot->directory()));
      if (last.run_id != id) return absl::OkStatus();
      metadata.finalized = true;
      return write_metadata(snapshot->directory(), metadata);
    }
    SnapshotPtr snapshot;
    std::string id;
    FirstSnapshotWriter writer;
    SnapshotMetadata metadata;
    std::vector<Tuple> waiting;
  };

  std::shared_ptr<Desk> desk_;
  SourcePtr input_;
  BlockingWork work_;
  bool begun_ = false, over_ = false;
};

/// What there is, and what is to be done with it.
struct Found {
  std::optional<SnapshotMetadata> metadata;
  std::vector<std::string> files;
};

Status look(const FirstSnapshot& s, const std::string& graph, Found& found) {
  TRY(make_directories(s.path));
  if (!graph.empty()) TRY(write_file(join_path(s.path, s.hash + "-graph.pbtxt"), graph));
  if (s.mode == "write" || s.mode == "passthrough" || !file_exists(metadata_file(s.directory()))) return absl::OkStatus();
  TRY_ASSIGN(found.metadata, read_metadata(s.directory()));
  TRY_ASSIGN(found.files, matching_files(join_path(s.run(s.reader_prefix, found.metadata->run_id), "*.snapshot")));
  std::sort(found.files.begin(), found.files.end());
  return absl::OkStatus();
}

class FirstSnapped final : public Source {
 public:
  FirstSnapped(SnapshotPtr snapshot, std::string graph) : snapshot_(std::move(snapshot)), graph_(std::move(graph)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!pass_)
      if (const Poll poll = choose(reading); poll != Poll::ready) return poll;
    return pass_->next(reading, out);
  }

 private:
  Poll choose(Reading& reading) {
    if (!work_.started()) {
      found_ = std::make_shared<Found>();
      work_.start(reading, [found = found_, snapshot = snapshot_, graph = graph_] { return look(*snapshot, graph, *found); });
    }
    if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
    const FirstSnapshot& s = *snapshot_;
    const bool complete = found_->metadata && found_->metadata->finalized;
    const bool expired = found_->metadata && found_->metadata->created < now_in_microseconds() - s.expiry * 1'000'000;
    if (s.mode == "read" && !found_->metadata) return reading.fail(not_found("Metadata file does not exist."));
    if (s.mode == "read" || (s.mode == "auto" && complete)) read_again();
    else if (s.mode == "write" || (s.mode == "auto" && (!found_->metadata || expired))) pass_ = std::make_unique<Writing>(snapshot_);
    else pass_ = s.input->open();
    return Poll::ready;
  }

  void read_again() {
    const FirstSnapshot& s = *snapshot_;
    if (s.shuffled) {
      const bool any = s.seed == 0 && s.seed2 == 0;
      std::mt19937_64 numbers(any ? entropy() : static_cast<std::uint64_t>(s.seed) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(s.seed2));
      std::shuffle(found_->files.begin(), found_->files.end(), numbers);
    }
    pass_ = read_ahead(first_snapshot_reader(found_->files, s.compression, s.input->element.types));
  }

  SnapshotPtr snapshot_;
  std::string graph_;
  std::shared_ptr<Found> found_;
  BlockingWork work_;
  SourcePtr pass_;
};

/// Snapshots that are written in another way are others. A dataset that cannot be known again has one of its own.
std::uint64_t print_of(const FirstSnapshot& s) {
  if (s.input->fingerprint == 0) return entropy();
  Fingerprint print;
  print.add_number(s.input->fingerprint);
  for (const std::string& text : {s.path, s.compression, s.reader_prefix, s.writer_prefix}) print.add_text(text);
  print.add_number(static_cast<std::uint64_t>(s.largest));
  return print.value();
}

}  // namespace

void add_first_snapshot_datasets(Registry& ops) {
  ops.add("SnapshotDataset", [](Call& call, Step& step, DatasetIn input, Number<std::string> path, State<FirstSnapshot> declared) -> Status {
    auto snapshot = std::make_shared<FirstSnapshot>(*declared);
    snapshot->input = input;
    snapshot->path = *path;
    snapshot->hash = in_hex(print_of(*snapshot));
    const auto graph = to_graph(input, *step.resources);
    Dataset dataset = over(input, "Snapshot");
    dataset.open = [snapshot, text = graph.ok() ? graph->DebugString() : std::string()] { return std::make_unique<FirstSnapped>(snapshot, text); };
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
