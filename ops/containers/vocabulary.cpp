// Reading of vocabulary files.
#include <troupe/ops/containers/vocabulary.hpp>

#include <charconv>
#include <fstream>
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

Status check_column(std::int64_t column, DType type, const char* what) {
  if (column == VocabularyFormat::line_number && type != DType::i64)
    return invalid("{} index for line number requires {} dtype to be int64, got {}", what, what, name_of(type));
  if (column == VocabularyFormat::whole_line && type != DType::string && type != DType::i64)
    return invalid("{} index for whole line requires string or integer types, got {}", what, name_of(type));
  return absl::OkStatus();
}

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
      std::string_view trimmed = text;
      while (!trimmed.empty() && trimmed.front() == ' ') trimmed.remove_prefix(1);
      while (!trimmed.empty() && (trimmed.back() == ' ' || trimmed.back() == '\r')) trimmed.remove_suffix(1);
      T number{};
      const auto read = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
      if (read.ec != std::errc() || read.ptr != trimmed.data() + trimmed.size())
        return invalid("Field {} in line {} is not a valid {}.", text, numbers.size(), name_of(type_));
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
  TRY(check_column(format.key, key, "Key"));
  TRY(check_column(format.value, value, "Value"));
  std::ifstream in(file, std::ios::binary);
  if (!in) return not_found("{}; No such file or directory", file);
  Column keys(format.key, key), values(format.value, value);
  std::string line;
  std::int64_t number = 0, taken = 0;
  for (; (format.size < 0 || taken < format.size) && std::getline(in, line); ++number) {
    if (number < format.offset) continue;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto parts = split(line, format.delimiter);
    TRY(keys.add(line, parts, number - format.offset, file));
    TRY(values.add(line, parts, number - format.offset, file));
    ++taken;
  }
  if (format.size >= 0 && taken < format.size)
    return invalid("Invalid vocab_size in {}: expected {} but got {}", file, format.size, taken);
  TRY_ASSIGN(Tensor key_tensor, keys.finish());
  TRY_ASSIGN(Tensor value_tensor, values.finish());
  return std::pair{std::move(key_tensor), std::move(value_tensor)};
}

}  // namespace troupe
