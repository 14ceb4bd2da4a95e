// Tables through LevelDB's code.
#include <troupe/ops/checkpoint/table_file.hpp>

#include <troupe/ops/files/local_files.hpp>

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include <exception>

namespace troupe {
namespace {

leveldb::Slice slice_of(std::string_view text) { return {text.data(), text.size()}; }
std::string_view text_of(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

/// LevelDB says what is wrong behind the kind of the error.
Status status_of(const leveldb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  std::string text = status.ToString();
  if (const auto colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
  return status.IsCorruption() ? data_loss("{}", text) : unknown("{}", text);
}

leveldb::ReadOptions careful() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

class Output final : public leveldb::WritableFile {
 public:
  explicit Output(NewFile f) : file(std::move(f)) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    if (status.ok()) status = file.append(text_of(data));
    return status.ok() ? leveldb::Status::OK() : leveldb::Status::IOError("");
  }
  leveldb::Status Close() override { return {}; }
  leveldb::Status Flush() override { return {}; }
  leveldb::Status Sync() override { return {}; }

  NewFile file;
  Status status;
};

class Input final : public leveldb::RandomAccessFile {
 public:
  explicit Input(troupe::RandomFile f) : file(std::move(f)) {}
  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result, char* scratch) const override {
    const auto count = file.read(offset, scratch, n);
    if (!count.ok()) return leveldb::Status::IOError(troupe::text_of(count.status()));
    *result = leveldb::Slice(scratch, *count);
    return {};
  }

  RandomFile file;
};

/// A broken file may ask for more memory than there is.
template <class F>
auto guarded(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::exception& e) {
    return data_loss("truncated block read: {}", e.what());
  }
}

}  // namespace

struct TableWriter::State {
  explicit State(NewFile f) : output(std::move(f)), builder(options(), &output) {}
  static leveldb::Options options() {
    leveldb::Options options;
    options.compression = leveldb::kNoCompression;
    options.block_size = 256 * 1024;
    return options;
  }
  Output output;
  leveldb::TableBuilder builder;
  bool finished = false;
  ~State() {
    if (!finished) builder.Abandon();
  }
};

TableWriter::TableWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableWriter::TableWriter(TableWriter&&) noexcept = default;
TableWriter& TableWriter::operator=(TableWriter&&) noexcept = default;
TableWriter::~TableWriter() = default;

StatusOr<TableWriter> TableWriter::create(const std::string& name) {
  TRY_ASSIGN(NewFile file, NewFile::create(name));
  return TableWriter(std::make_unique<State>(std::move(file)));
}

void TableWriter::add(std::string_view key, std::string_view value) { state_->builder.Add(slice_of(key), slice_of(value)); }

Status TableWriter::close() {
  if (state_->finished) return absl::OkStatus();
  state_->finished = true;
  const Status built = status_of(state_->builder.Finish());
  TRY(state_->output.status);
  TRY(built);
  return state_->output.file.close();
}

Status TableWriter::commit() {
  TRY(close());
  return state_->output.file.commit();
}

struct TableReader::State {
  explicit State(RandomFile f) : input(std::move(f)) {}
  Input input;  // outlives what reads it
  std::unique_ptr<leveldb::Table> table;
  std::unique_ptr<leveldb::Iterator> at;
};

TableReader::TableReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;
TableReader::~TableReader() = default;

StatusOr<TableReader> TableReader::open(const std::string& name) {
  TRY_ASSIGN(RandomFile file, RandomFile::open(name));
  TRY_ASSIGN(const std::uint64_t size, file.size());
  auto state = std::make_unique<State>(std::move(file));
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* table = nullptr;
  TRY(guarded([&]() -> Status { return status_of(leveldb::Table::Open(options, &state->input, size, &table)); }));
  state->table.reset(table);
  state->at.reset(table->NewIterator(careful()));
  return TableReader(std::move(state));
}

StatusOr<std::optional<std::string>> TableReader::find(std::string_view key) {
  return guarded([&]() -> StatusOr<std::optional<std::string>> {
    leveldb::Iterator& at = *state_->at;
    at.Seek(slice_of(key));
    if (at.Valid() && text_of(at.key()) == key) return at.value().ToString();
    TRY(status_of(at.status()));
    return std::nullopt;
  });
}

Status TableReader::each(const std::function<Status(std::string_view, std::string_view)>& visit) {
  return guarded([&]() -> Status {
    leveldb::Iterator& at = *state_->at;
    for (at.SeekToFirst(); at.Valid(); at.Next()) TRY(visit(text_of(at.key()), text_of(at.value())));
    return status_of(at.status());
  });
}

}  // namespace troupe
