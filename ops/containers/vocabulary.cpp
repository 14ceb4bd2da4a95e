// Reading of vocabulary files.
#include <troupe/ops/containers/vocabulary.hpp>

#include <troupe/ops/files/records.hpp>

#include <absl/strings/numbers.h>

#include <string_view>
#include <vector>

namespace troupe {
namespace {

std::vector<std::string_view> split(std::string_view line, char delimiter) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = line.find(delimiter);
    parts.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return parts;
    line.remove_prefix(at + 1);
  }
}

Status check_column(std::int64_t column, DType type, const char* index, const char* what) {
  if (column == VocabularyFormat::line_number && type != DType::i64)
    return invalid("{} index for line number requires table {} dtype of int64, got {}", index, what, name_of(type));
  if (column == VocabularyFormat::whole_line && type != DType::string && type != DType::i64 && type != DType::i32)
    return invalid("{} index for whole line requires table {} dtype of integer or string, got {}", index, what, name_of(type));
  return absl::OkStatus();
}

bool parse_number(absl::string_view text, std::int32_t& number) { return absl::SimpleAtoi(text, &number); }
bool parse_number(absl::string_view text, std::int64_t& number) { return absl::SimpleAtoi(text, &number); }
bool parse_number(absl::string_view text, float& number) { return absl::SimpleAtof(text, &number); }
bool parse_number(absl::string_view text, double& number) { return absl::SimpleAtod(text, &number); }

/// A column in the making.
class Column {
 public:
  Column(std::int64_t which, DType type) : which_(which), type_(type) {}

  Status add(std::string_view line, const std::vector<std::string_view>& parts, std::int64_t number, const std::string& file) {
    if (which_ == VocabularyFormat::line_number) {
      texts_.push_back(std::to_string(number));
      return absl::OkStatus();
    }
    if (which_ == VocabularyFormat::whole_line) {
      texts_.emplace_back(line);
      return absl::OkStatus();
    }
    if (static_cast<std::size_t>(which_) >= parts.size())
      return invalid("Invalid number of columns in {} line {} ({}) : expected at least {} got {}", file, number, line, which_ + 1, parts.size());
    texts_.emplace_back(parts[static_cast<std::size_t>(which_)]);
    return absl::OkStatus();
  }

  StatusOr<Tensor> finish() const {
    if (type_ == DType::string) return Tensor::vector(texts_);
    StatusOr<Tensor> out = invalid("Tables of {} cannot be read from a file", name_of(type_));
    visit_dtype(types<std::int32_t, std::int64_t, float, double>{}, type_, [&]<class T>() { out = parse<T>(); });
    return out;
  }

 private:
  template <class T>
  StatusOr<Tensor> parse() const {
    std::vector<T> numbers;
    for (const std::string& text : texts_) {
      T number{};
      if (!parse_number(text, number)) return invalid("Field {} in line {} is not a valid {}.", text, numbers.size(), name_of(type_));
      numbers.push_back(number);
    }
    return Tensor::vector(numbers);
  }

  std::int64_t which_;
  DType type_;
  std::vector<std::string> texts_;
};

}  // namespace

StatusOr<VocabularyFormat> VocabularyFormat::make(Binding& binding) {
  VocabularyFormat f;
  TRY_ASSIGN(f.key, binding.attr<std::int64_t>("key_index"));
  TRY_ASSIGN(f.value, binding.attr<std::int64_t>("value_index"));
  TRY_ASSIGN(f.size, binding.attr<std::int64_t>("vocab_size"));
  TRY_ASSIGN(f.offset, binding.attr<std::int64_t>("offset"));
  TRY_ASSIGN(const auto delimiter, binding.attr<std::string>("delimiter"));
  if (delimiter.size() != 1) return invalid("delimiter should be only 1 char");
  f.delimiter = delimiter[0];
  if (f.size < -1) return invalid("Vocab size must be >= -1");
  return f;
}

StatusOr<std::pair<Tensor, Tensor>> read_vocabulary(const std::string& file, const VocabularyFormat& format, DType key, DType value) {
  TRY(check_column(format.key, key, "Key", "key"));
  TRY(check_column(format.value, value, "Value", "value"));
  TRY_ASSIGN(auto bytes, open_bytes(file));
  LineReader lines(std::move(bytes), LineReader::Returns::drop_last);
  Column keys(format.key, key), values(format.value, value);
  std::string line;
  std::int64_t taken = 0;
  while (format.size < 0 || taken < format.size) {
    TRY_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (line.empty()) return invalid("Invalid content in {}: empty line found at position {}.", file, lines.position());
    const auto parts = split(line, format.delimiter);
    TRY(keys.add(line, parts, taken + format.offset, file));
    TRY(values.add(line, parts, taken + format.offset, file));
    ++taken;
  }
  if (format.size == 0) return out_of_range("Finished reading 0 of lines from {}", file);
  if (taken == 0) return out_of_range("Read less bytes than requested");
  if (taken < format.size) return invalid("Invalid vocab_size in {}: expected {} but got {}", file, format.size, taken);
  TRY_ASSIGN(Tensor key_tensor, keys.finish());
  TRY_ASSIGN(Tensor value_tensor, values.finish());
  return std::pair{std::move(key_tensor), std::move(value_tensor)};
}

}  // namespace troupe
