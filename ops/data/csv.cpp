// Datasets of records of comma-separated values, a tensor per column.
#include <troupe/ops/data/ahead.hpp>
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/strings/numbers.hpp>

namespace troupe {
namespace {

using Columns = std::vector<std::int64_t>;

struct CsvLayout {
  std::vector<std::string> files;
  Compression compression = Compression::none;
  std::size_t buffer = 0;
  bool header = false, quotes = true;
  char delimiter = ',';
  std::string missing;
  Columns select, exclude;
  Tuple defaults;
  std::vector<DType> types;
};

/// Characters of a file, one after another.
class Characters {
 public:
  static constexpr int end = -1;
  Characters(std::unique_ptr<ByteSource> source, std::size_t buffer) : source_(std::move(source)), wanted_(buffer) {}
  /// The next character, which stays; at the end, or where reading fails, `end`.
  int peek() {
    if (at_ >= buffer_.size() && failure_.ok()) {
      failure_ = source_->read(wanted_, buffer_);
      at_ = 0;
      if (!failure_.ok()) buffer_.clear();
    }
    return at_ < buffer_.size() ? static_cast<unsigned char>(buffer_[at_]) : end;
  }
  void skip() { ++at_; }
  const Status& failure() const { return failure_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t wanted_;
  std::string buffer_;
  std::size_t at_ = 0;
  Status failure_;
};

template <class T>
Status set_number(Tensor& out, std::size_t field, const std::string& text) {
  std::optional<T> value;
  if constexpr (std::is_integral_v<T>) value = parse_integer<T>(text);
  else value = parse_float<T>(text);
  if (!value) return invalid("Field {} in record is not a valid {}: {}", field, name_of(out.dtype()), text);
  *out.mutable_data<T>() = *value;
  return absl::OkStatus();
}

class CsvRecords final : public Producer {
 public:
  explicit CsvRecords(std::shared_ptr<const CsvLayout> layout) : layout_(std::move(layout)) {}
  StatusOr<bool> next(Tuple& out) override {
    for (;;) {
      if (text_ && text_->peek() != Characters::end) {
        const bool all = layout_->select.empty() && layout_->exclude.empty();
        TRY(record(&out, all, layout_->select, layout_->exclude));
        if (out.size() != layout_->types.size()) return invalid("Expect {} fields but have {} in record", layout_->types.size(), out.size());
        return true;
      }
      if (text_) {
        const Status failure = text_->failure();
        text_.reset();
        ++file_;
        TRY(failure);
      }
      if (file_ == layout_->files.size()) return false;
      TRY_ASSIGN(auto bytes, open_bytes(layout_->files[file_], layout_->compression));
      text_ = std::make_unique<Characters>(std::move(bytes), layout_->buffer);
      if (layout_->header && (text_->peek() == Characters::end || !record(nullptr, false, {}, {}).ok())) return invalid("Can't read header of file");
    }
  }

 private:
  /// Goes on to the end of the record after a mistake, so that the next one is found.
  Status record(Tuple* out, bool all, const Columns& select, const Columns& exclude) {
    Status status;
    std::size_t selected = 0, excluded = 0;
    bool ended = false;
    for (std::int64_t column = 0; !ended; ++column) {
      const bool out_of_it = excluded < exclude.size() && exclude[excluded] == column;
      const bool wanted = all || (selected < select.size() && select[selected] == column) || (!exclude.empty() && !out_of_it);
      std::string text;
      const Status parsed = field(text, ended);
      status.Update(parsed);
      if (wanted && parsed.ok()) status.Update(add(*out, text));
      selected += wanted;
      excluded += out_of_it;
    }
    TRY(text_->failure());
    return status;
  }

  Status field(std::string& text, bool& ended) {
    if (layout_->quotes && text_->peek() == '"') return quoted(text, ended);
    Status status;
    for (;;) {
      const int c = text_->peek();
      if (ends_field(c, ended)) return status;
      if (layout_->quotes && c == '"') status.Update(invalid("Unquoted fields cannot have quotes inside"));
      text += static_cast<char>(c);
      text_->skip();
    }
  }

  Status quoted(std::string& text, bool& ended) {
    Status status;
    text_->skip();
    for (;;) {
      int c = text_->peek();
      if (c == Characters::end) {
        ended = true;
        return invalid("Reached end of file without closing quoted field in record");
      }
      text_->skip();
      if (c != '"') {
        text += static_cast<char>(c);
        continue;
      }
      c = text_->peek();
      if (ends_field(c, ended)) return status;
      if (c != '"') status.Update(invalid("Quote inside a string has to be escaped by another quote"));
      text += '"';
      text_->skip();
    }
  }

  /// Moves beyond what stands between fields or records.
  bool ends_field(int c, bool& ended) {
    if (c != Characters::end && c != layout_->delimiter && c != '\n' && c != '\r') return false;
    ended = c != layout_->delimiter;
    if (c != Characters::end) text_->skip();
    if (c == '\r' && c != layout_->delimiter && text_->peek() == '\n') text_->skip();
    return true;
  }

  Status add(Tuple& out, const std::string& text) const {
    const std::size_t i = out.size();
    if (i >= layout_->types.size()) return invalid("Expect {} fields but have more in record", layout_->types.size());
    Tensor& value = out.emplace_back(layout_->types[i], Shape{});
    if (text.empty() || text == layout_->missing) {
      if (layout_->defaults[i].size() != 1) return invalid("Field {} is required but missing in record!", i);
      value = layout_->defaults[i].reshaped(Shape{});
      return absl::OkStatus();
    }
    switch (value.dtype()) {
      case DType::i32: return set_number<std::int32_t>(value, i, text);
      case DType::i64: return set_number<std::int64_t>(value, i, text);
      case DType::f32: return set_number<float>(value, i, text);
      case DType::f64: return set_number<double>(value, i, text);
      case DType::string: *value.mutable_data<std::string>() = text; return absl::OkStatus();
      default: return invalid("csv: data type {} not supported in field {}", name_of(value.dtype()), i);
    }
  }

  std::shared_ptr<const CsvLayout> layout_;
  std::unique_ptr<Characters> text_;
  std::size_t file_ = 0;
};

Status check_columns(const Columns& columns, const char* name) {
  for (std::size_t i = 1; i < columns.size(); ++i)
    if (columns[i - 1] >= columns[i]) return invalid("{} should be strictly increasing indices", name);
  if (!columns.empty() && columns[0] < 0) return invalid("{} should be non-negative indices", name);
  return absl::OkStatus();
}

Columns columns_in(const Tensor& t) { return {t.values<std::int64_t>().begin(), t.values<std::int64_t>().end()}; }

struct CsvInputs {
  const Tensor& files;
  const std::string &compression, &delimiter, &missing;
  std::int64_t buffer;
  bool header, quotes;
  const Tensor& select;
  const Tensor* exclude;
  const List& defaults;
};

Status give_csv(Call& call, const CsvInputs& in, const ElementFacts& facts) {
  CsvLayout csv;
  if (in.files.rank() > 1) return invalid("`filenames` must be a scalar or a vector.");
  csv.files.assign(in.files.values<std::string>().begin(), in.files.values<std::string>().end());
  for (int i = 0; i < in.defaults.size(); ++i) {
    if (in.defaults[i].rank() > 1) return invalid("Each record default should be at most rank 1");
    if (in.defaults[i].size() >= 2) return invalid("There should only be 1 default per field but field {} has {}", i, in.defaults[i].size());
  }
  if (in.select.rank() != 1) return invalid("`select_cols` must be a vector.");
  if (in.exclude && in.exclude->rank() != 1) return invalid("`exclude_cols` must be a vector");
  if (in.buffer <= 0) return invalid("buffer_size should be positive");
  if (in.delimiter.size() != 1) return invalid("field_delim should be only 1 char");
  auto compression = compression_named(in.compression);
  if (!compression.ok()) return invalid("Unsupported compression_type: {}.", in.compression);
  csv.compression = *compression;
  csv.buffer = static_cast<std::size_t>(std::min<std::int64_t>(in.buffer, 1 << 20));
  csv.header = in.header;
  csv.quotes = in.quotes;
  csv.delimiter = in.delimiter[0];
  csv.missing = in.missing;
  csv.select = columns_in(in.select);
  if (in.exclude) csv.exclude = columns_in(*in.exclude);
  csv.defaults = tensors_in(in.defaults);
  csv.types = facts.types;
  if (!csv.select.empty() && csv.select.size() != csv.types.size()) return invalid("select_cols should match output size");
  TRY(check_columns(csv.select, "select_cols"));
  if (!csv.select.empty() && !csv.exclude.empty()) return invalid("Either select_cols or exclude_cols should be empty");
  TRY(check_columns(csv.exclude, "exclude_cols"));
  for (std::size_t i = 0; i < csv.types.size(); ++i)
    if (i >= csv.defaults.size() || csv.defaults[i].dtype() != csv.types[i]) return invalid("Column {} has no default of its type", i);
  Dataset dataset;
  dataset.kind = "CSV";
  dataset.element = facts;
  dataset.open = [layout = std::make_shared<const CsvLayout>(std::move(csv))] { return read_ahead(std::make_unique<CsvRecords>(layout)); };
  return give(call, std::move(dataset));
}

}  // namespace

void add_csv_datasets(Registry& ops) {
  using Text = Number<std::string>;
  using Numbers = In<std::int64_t>;
  ops.add({"CSVDataset", "ExperimentalCSVDataset"}, [](Call& call, In<std::string> files, Text compression, Number<std::int64_t> buffer,
                                                       Number<bool> header, Text delimiter, Number<bool> quotes, Text missing, Numbers select,
                                                       List defaults, Elements elements) {
    return give_csv(call, {files.tensor, *compression, *delimiter, *missing, *buffer, *header, *quotes, select.tensor, nullptr, defaults}, elements);
  });
  ops.add("CSVDatasetV2", [](Call& call, In<std::string> files, Text compression, Number<std::int64_t> buffer, Number<bool> header, Text delimiter,
                             Number<bool> quotes, Text missing, Numbers select, List defaults, Numbers exclude, Elements elements) {
    return give_csv(call, {files.tensor, *compression, *delimiter, *missing, *buffer, *header, *quotes, select.tensor, &exclude.tensor, defaults},
                    elements);
  });
}

}  // namespace troupe
