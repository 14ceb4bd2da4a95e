// Records of files, by kinds of readers.
#include <troupe/ops/files/record_streams.hpp>

#include <troupe/ops/files/local_files.hpp>

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

class Identity final : public RecordStream {
 public:
  Status start(const std::string& work) override {
    work_ = work;
    return absl::OkStatus();
  }
  StatusOr<Found> next(std::string& key, std::string& value) override {
    key = value = work_;
    return Found::last_record;
  }
  bool can_be_saved() const override { return true; }

 private:
  std::string work_;
};

class WholeFile final : public RecordStream {
 public:
  Status start(const std::string& work) override {
    work_ = work;
    return absl::OkStatus();
  }
  StatusOr<Found> next(std::string& key, std::string& value) override {
    TRY_ASSIGN(value, read_file(work_));
    key = work_;
    return Found::last_record;
  }
  bool can_be_saved() const override { return true; }

 private:
  std::string work_;
};

class Lines final : public RecordStream {
 public:
  explicit Lines(std::int64_t skipped) : skipped_(skipped) {}
  Status start(const std::string& work) override {
    TRY_ASSIGN(auto bytes, open_bytes(work));
    reader_.emplace(std::move(bytes), LineReader::Returns::drop_last);
    work_ = work;
    std::string away;
    for (number_ = 0; number_ < skipped_; ++number_) {
      TRY_ASSIGN(const bool more, reader_->next(away));
      if (!more) break;
    }
    return absl::OkStatus();
  }
  StatusOr<Found> next(std::string& key, std::string& value) override {
    TRY_ASSIGN(const bool more, reader_->next(value));
    if (!more) return Found::end;
    key = fmt::format("{}:{}", work_, ++number_);
    return Found::record;
  }
  void stop() override { reader_.reset(); }

 private:
  std::int64_t skipped_, number_ = 0;
  std::string work_;
  std::optional<LineReader> reader_;
};

class Records final : public RecordStream {
 public:
  explicit Records(Compression compression) : compression_(compression) {}
  Status start(const std::string& work) override {
    TRY_ASSIGN(auto bytes, open_bytes(work, compression_));
    reader_.emplace(std::move(bytes));
    work_ = work;
    return absl::OkStatus();
  }
  StatusOr<Found> next(std::string& key, std::string& value) override {
    key = fmt::format("{}:{}", work_, reader_->offset());
    TRY_ASSIGN(const bool more, reader_->next(value));
    return more ? Found::record : Found::end;
  }
  void stop() override { reader_.reset(); }

 private:
  Compression compression_;
  std::string work_;
  std::optional<RecordReader> reader_;
};

/// Looks ahead by a footer, which is no part of the records.
class FixedLengths final : public RecordStream {
 public:
  explicit FixedLengths(FixedLength layout)
      : layout_(layout),
        record_(static_cast<std::size_t>(layout.record)),
        hop_(static_cast<std::size_t>(layout.hop > 0 ? layout.hop : layout.record)),
        needed_(std::max<std::size_t>(record_, 1) + static_cast<std::size_t>(layout.footer)) {}

  Status start(const std::string& work) override {
    TRY_ASSIGN(source_, open_bytes(work, layout_.compression));
    work_ = work;
    number_ = 0;
    ahead_.clear();
    const auto header = static_cast<std::uint64_t>(layout_.header);
    TRY_ASSIGN(const std::uint64_t skipped, source_->skip(header));
    if (skipped < header) return out_of_range("{}", layout_.compression == Compression::none ? "reached end of file" : source_->end_text());
    return absl::OkStatus();
  }
  StatusOr<Found> next(std::string& key, std::string& value) override {
    if (ahead_.size() < needed_) {
      std::string more;
      TRY(source_->read(needed_ - ahead_.size(), more));
      ahead_ += more;
      if (ahead_.size() < needed_) return Found::end;
    }
    key = fmt::format("{}:{}", work_, number_++);
    value = ahead_.substr(0, record_);
    const std::size_t dropped = std::min(hop_, ahead_.size());
    ahead_.erase(0, dropped);
    if (hop_ > dropped) TRY(source_->skip(hop_ - dropped).status());
    return Found::record;
  }
  void stop() override { source_.reset(); }

 private:
  FixedLength layout_;
  std::size_t record_, hop_, needed_;
  std::unique_ptr<ByteSource> source_;
  std::string work_, ahead_;
  std::int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<RecordStream> identity_stream() { return std::make_unique<Identity>(); }
std::unique_ptr<RecordStream> whole_file_stream() { return std::make_unique<WholeFile>(); }
std::unique_ptr<RecordStream> line_stream(std::int64_t skipped_lines) { return std::make_unique<Lines>(skipped_lines); }
std::unique_ptr<RecordStream> record_stream(Compression compression) { return std::make_unique<Records>(compression); }
std::unique_ptr<RecordStream> fixed_length_stream(FixedLength layout) { return std::make_unique<FixedLengths>(layout); }

}  // namespace troupe
