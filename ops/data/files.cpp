// Datasets read from files: lines, records, and records of one length.
#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/files/records.hpp>

#include <deque>
#include <filesystem>

namespace troupe {
namespace {

/// Reads one file from the front.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// False at the end of the file. May block.
  virtual StatusOr<bool> next(std::string& text) = 0;
};
using OpenFile = std::function<StatusOr<std::unique_ptr<FileReader>>(std::size_t index)>;

/// What the thread that may block works on; nobody else touches it meanwhile.
struct Shelf {
  static constexpr std::size_t most_elements = 1024, most_bytes = 256 * 1024;
  OpenFile open;
  std::size_t files = 0, file = 0;
  std::unique_ptr<FileReader> reader;
  std::deque<std::string> texts;
  Status failure;  // after the texts
  bool over = false;

  void fill() {
    std::size_t bytes = 0;
    while (!over && failure.ok() && texts.size() < most_elements && bytes < most_bytes) {
      std::string text;
      auto more = read(text);
      if (!more.ok()) failure = more.status();
      else if (*more) bytes += texts.emplace_back(std::move(text)).size();
    }
  }

  /// False when a file has ended.
  StatusOr<bool> read(std::string& text) {
    if (!reader) {
      if (file >= files) {
        over = true;
        return false;
      }
      // A file that cannot be opened is tried again by who asks again.
      TRY_ASSIGN(reader, open(file));
    }
    auto more = reader->next(text);
    if (!more.ok() || !*more) {
      reader.reset();
      ++file;
    }
    return more;
  }
};

/// Elements of files one after another, read ahead on another thread.
class Files final : public Source {
 public:
  Files(OpenFile open, std::size_t files) : shelf_(std::make_shared<Shelf>()) {
    shelf_->open = std::move(open);
    shelf_->files = files;
  }
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      if (work_.started())
        if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      if (!shelf_->texts.empty()) {
        out = {Tensor::scalar<std::string>(std::move(shelf_->texts.front()))};
        shelf_->texts.pop_front();
        return Poll::ready;
      }
      if (!shelf_->failure.ok()) return reading.fail(std::exchange(shelf_->failure, absl::OkStatus()));
      if (shelf_->over) return Poll::end;
      work_.start(reading, [shelf = shelf_] {
        shelf->fill();
        return absl::OkStatus();
      });
    }
  }

 private:
  std::shared_ptr<Shelf> shelf_;
  BlockingWork work_;
};

class Lines final : public FileReader {
 public:
  explicit Lines(std::unique_ptr<ByteSource> source) : lines_(std::move(source), LineReader::Returns::drop_all) {}
  StatusOr<bool> next(std::string& text) override { return lines_.next(text); }

 private:
  LineReader lines_;
};

class Records final : public FileReader {
 public:
  explicit Records(std::unique_ptr<ByteSource> source) : records_(std::move(source)) {}
  StatusOr<bool> next(std::string& text) override { return records_.next(text); }

 private:
  RecordReader records_;
};

struct FixedLength {
  std::int64_t header, record, footer;
};

/// A footer is known only by what comes after it: so many bytes are kept back.
class FixedRecords final : public FileReader {
 public:
  FixedRecords(std::unique_ptr<ByteSource> source, FixedLength lengths, std::string file)
      : source_(std::move(source)), lengths_(lengths), file_(std::move(file)) {}
  StatusOr<bool> next(std::string& text) override {
    if (!std::exchange(begun_, true)) {
      TRY_ASSIGN(const std::uint64_t skipped, source_->skip(static_cast<std::uint64_t>(lengths_.header)));
      if (skipped < static_cast<std::uint64_t>(lengths_.header))
        return internal(
            "Iterator \"Iterator::Root::FixedLengthRecordV2\" returned `OutOfRange`. This indicates an implementation error as "
            "`OutOfRange` errors are not "
            "expected to be returned here. Original message: Read less bytes than requested");
    }
    const auto record = static_cast<std::size_t>(lengths_.record), footer = static_cast<std::size_t>(lengths_.footer);
    std::string more;
    TRY(source_->read(record + footer - held_.size(), more));
    held_ += more;
    if (held_.size() < record + footer) {
      if (held_.size() != footer)
        return invalid("Excess bytes after last record in file '{}': {} bytes left over", file_,
                       static_cast<std::int64_t>(held_.size()) - lengths_.footer);
      return false;
    }
    text = held_.substr(0, record);
    held_.erase(0, record);
    return true;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  FixedLength lengths_;
  std::string file_, held_;
  bool begun_ = false;
};

/// The length of a file that is not compressed is known before it is read.
Status check_length(const std::string& file, FixedLength lengths) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (unknown) return absl::OkStatus();
  const std::int64_t body = static_cast<std::int64_t>(size) - lengths.header - lengths.footer;
  if (body < 0 || body % lengths.record == 0) return absl::OkStatus();
  return invalid(
      "Excluding the header ({} bytes) and footer ({} bytes), input file \"{}\" has body length {} bytes, which is not an exact multiple "
      "of the record length "
      "({} bytes).",
      lengths.header, lengths.footer, file, body, lengths.record);
}

StatusOr<std::vector<std::string>> names_in(const Tensor& names) {
  if (names.dtype() != DType::string || names.rank() > 1) return invalid("`filenames` must be a scalar or a vector.");
  return std::vector<std::string>(names.values<std::string>().begin(), names.values<std::string>().end());
}

StatusOr<Compression> compression_in(const std::string& name) {
  auto known = compression_named(name);
  if (!known.ok()) return invalid("Unsupported compression_type.");
  return known;
}

Status give_files(Call& call, const char* kind, std::size_t files, OpenFile open) {
  Dataset dataset;
  dataset.kind = kind;
  dataset.element = {{DType::string}, {PartialShape(Shape{})}};
  dataset.open = [open = std::move(open), files] { return std::make_unique<Files>(open, files); };
  return give(call, std::move(dataset));
}

Status give_fixed(Call& call, const Tensor& names, FixedLength lengths, std::int64_t buffer, Compression compression) {
  TRY_ASSIGN(auto files, names_in(names));
  if (lengths.header < 0) return invalid("`header_bytes` must be >= 0");
  if (lengths.record <= 0) return invalid("`record_bytes` must be > 0");
  if (lengths.footer < 0) return invalid("`footer_bytes` must be >= 0");
  if (buffer < 0) return invalid("`buffer_size` must be >= 0");
  if (lengths.record > (std::int64_t{1} << 40) || lengths.footer > (std::int64_t{1} << 40))
    return resource_exhausted("Records of {} bytes are too long", lengths.record);
  const std::size_t count = files.size();
  return give_files(call, "FixedLengthRecord", count,
                    [files = std::move(files), lengths, compression](std::size_t i) -> StatusOr<std::unique_ptr<FileReader>> {
                      TRY_ASSIGN(auto source, open_bytes(files[i], compression));
                      if (compression == Compression::none) TRY(check_length(files[i], lengths));
                      return std::make_unique<FixedRecords>(std::move(source), lengths, files[i]);
                    });
}

}  // namespace

void add_file_datasets(Registry& ops) {
  using Count = Number<std::int64_t>;
  ops.add("TextLineDataset", [](Call& call, Any names, Number<std::string> type, Count buffer) -> Status {
    TRY_ASSIGN(auto files, names_in(names.tensor));
    TRY_ASSIGN(const Compression compression, compression_in(*type));
    if (*buffer < 0) return invalid("`buffer_size` must be >= 0 (0 == default)");
    const std::size_t count = files.size();
    return give_files(call, "TextLine", count, [files = std::move(files), compression](std::size_t i) -> StatusOr<std::unique_ptr<FileReader>> {
      TRY_ASSIGN(auto source, open_bytes(files[i], compression));
      return std::make_unique<Lines>(std::move(source));
    });
  });
  auto records = [](Call& call, const Tensor& names, const std::string& type, std::int64_t buffer, std::vector<std::int64_t> offsets) -> Status {
    TRY_ASSIGN(auto files, names_in(names));
    const Compression compression = compression_named(type).value_or(Compression::none);
    if (buffer < 0) return invalid("`buffer_size` must be >= 0 (0 == no buffering)");
    if (!offsets.empty() && offsets.size() != files.size()) return invalid("`byte_offsets` must be of same size as `filenames`");
    for (std::int64_t offset : offsets)
      if (offset < 0) return invalid("`byte_offsets` must be >= 0");
    const std::size_t count = files.size();
    return give_files(call, "TFRecord", count,
                      [files = std::move(files), compression, offsets = std::move(offsets)](std::size_t i) -> StatusOr<std::unique_ptr<FileReader>> {
                        TRY_ASSIGN(auto source, open_bytes(files[i], compression));
                        if (!offsets.empty()) TRY(source->skip(static_cast<std::uint64_t>(offsets[i])).status());
                        return std::make_unique<Records>(std::move(source));
                      });
  };
  ops.add("TFRecordDataset",
          [records](Call& call, Any names, Number<std::string> type, Count buffer) { return records(call, names.tensor, *type, *buffer, {}); });
  ops.add("TFRecordDatasetV2", [records](Call& call, Any names, Number<std::string> type, Count buffer, In<std::int64_t> offsets) {
    return records(call, names.tensor, *type, *buffer, {offsets.values().begin(), offsets.values().end()});
  });
  ops.add("FixedLengthRecordDataset", [](Call& call, Any names, Count header, Count record, Count footer, Count buffer) {
    return give_fixed(call, names.tensor, {*header, *record, *footer}, *buffer, Compression::none);
  });
  ops.add("FixedLengthRecordDatasetV2",
          [](Call& call, Any names, Count header, Count record, Count footer, Count buffer, Number<std::string> type) -> Status {
            TRY_ASSIGN(const Compression compression, compression_in(*type));
            return give_fixed(call, names.tensor, {*header, *record, *footer}, *buffer, compression);
          });
}

}  // namespace troupe
