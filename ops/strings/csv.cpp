// Records of comma-separated values to a column per field.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/strings/numbers.hpp>

namespace troupe {
namespace {

struct Csv {
  char delimiter = ',';
  bool quotes = true;
  std::string missing;
  std::vector<std::int64_t> columns;  // all when empty

  static StatusOr<Csv> make(Binding& binding) {
    Csv csv;
    TRY_ASSIGN(std::string delimiter, binding.attr<std::string>("field_delim"));
    TRY_ASSIGN(csv.quotes, binding.attr<bool>("use_quote_delim"));
    TRY_ASSIGN(csv.missing, binding.attr<std::string>("na_value"));
    TRY_ASSIGN(csv.columns, binding.attr<std::vector<std::int64_t>>("select_cols"));
    if (delimiter.size() != 1) return invalid("field_delim should be only 1 char");
    csv.delimiter = delimiter[0];
    if (!csv.columns.empty() && csv.columns.size() != binding.signature().outputs.size()) return invalid("select_cols should match output size");
    for (std::size_t i = 1; i < csv.columns.size(); ++i)
      if (csv.columns[i - 1] >= csv.columns[i]) return invalid("select_cols should be strictly increasing indices");
    if (!csv.columns.empty() && csv.columns[0] < 0) return invalid("select_cols should be non-negative indices");
    return csv;
  }

  bool wants(std::size_t found, std::int64_t field) const { return columns.empty() || columns[found] == field; }

  /// Up to the delimiter or the end; moves `at` beyond it.
  StatusOr<std::string> plain_field(const std::string& text, std::size_t& at) const {
    std::string field;
    for (; at < text.size() && text[at] != delimiter; ++at) {
      if ((quotes && text[at] == '"') || text[at] == '\n' || text[at] == '\r') return invalid("Unquoted fields cannot have quotes/CRLFs inside");
      field += text[at];
    }
    ++at;
    return field;
  }

  StatusOr<std::string> quoted_field(const std::string& text, std::size_t& at) const {
    std::string field;
    ++at;
    while (at + 1 < text.size() && (text[at] != '"' || text[at + 1] != delimiter)) {
      if (text[at] != '"') {
        field += text[at++];
      } else {
        if (text[at + 1] != '"') return invalid("Quote inside a string has to be escaped by another quote");
        field += '"';
        at += 2;
      }
    }
    const bool ended = at < text.size() && text[at] == '"' && (at + 1 == text.size() || text[at + 1] == delimiter);
    if (!ended) return invalid("Quoted field has to end with quote followed by delim or end");
    at += 2;
    return field;
  }

  StatusOr<std::vector<std::string>> fields(const std::string& text) const {
    std::vector<std::string> found;
    std::int64_t parsed = 0;
    std::size_t at = 0;
    while (at < text.size()) {
      if (text[at] == '\n' || text[at] == '\r') {
        ++at;
        continue;
      }
      const bool wanted = wants(found.size(), parsed++);
      TRY_ASSIGN(std::string field, quotes && text[at] == '"' ? quoted_field(text, at) : plain_field(text, at));
      if (wanted) found.push_back(std::move(field));
      if (!columns.empty() && found.size() == columns.size()) return found;
    }
    if (!text.empty() && text.back() == delimiter && wants(found.size(), parsed)) found.emplace_back();
    return found;
  }
};

template <class T>
Status set_number(Tensor& out, std::int64_t record, std::size_t field, const std::string& text) {
  std::optional<T> value;
  if constexpr (std::is_integral_v<T>) value = parse_integer<T>(text);
  else value = parse_float<T>(text);
  if (!value) return invalid("Field {} in record {} is not a valid {}: {}", field, record, name_of(out.dtype()), text);
  out.mutable_data<T>()[record] = *value;
  return absl::OkStatus();
}

Status set_value(Tensor& out, std::int64_t record, std::size_t field, const std::string& text) {
  switch (out.dtype()) {
    case DType::i32: return set_number<std::int32_t>(out, record, field, text);
    case DType::i64: return set_number<std::int64_t>(out, record, field, text);
    case DType::f32: return set_number<float>(out, record, field, text);
    case DType::f64: return set_number<double>(out, record, field, text);
    case DType::string: out.mutable_data<std::string>()[record] = text; return absl::OkStatus();
    default: return invalid("csv: data type {} not supported in field {}", name_of(out.dtype()), field);
  }
}

Status set_default(Tensor& out, std::int64_t record, std::size_t field, const Tensor& otherwise) {
  if (otherwise.size() < 1) return invalid("Field {} is required but missing in record {}!", field, record);
  visit_dtype(types<std::int32_t, std::int64_t, float, double, std::string>{}, out.dtype(),
              [&]<class T>() { out.mutable_data<T>()[record] = otherwise.item<T>(); });
  return absl::OkStatus();
}

Status decode_csv(Call& call, const In<std::string>& records, const List& defaults, const Csv& csv) {
  for (int i = 0; i < defaults.size(); ++i) {
    if (defaults[i].rank() > 1) return invalid("Each record default should be at most rank 1");
    if (defaults[i].size() >= 2) return invalid("There should only be 1 default per field but field {} has {}", i, defaults[i].size());
  }
  for (int i = 0; i < defaults.size(); ++i) call.alloc(i, defaults[i].dtype(), records.shape());
  for (std::int64_t r = 0; r < records.size(); ++r) {
    TRY_ASSIGN(auto fields, csv.fields(records[r]));
    if (fields.size() != static_cast<std::size_t>(defaults.size()))
      return invalid("Expect {} fields but have {} in record {}", defaults.size(), fields.size(), r);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      Tensor& out = call.out(static_cast<int>(f));
      const bool missing = fields[f].empty() || fields[f] == csv.missing;
      TRY(missing ? set_default(out, r, f, defaults[static_cast<int>(f)]) : set_value(out, r, f, fields[f]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void add_csv(Registry& ops) {
  ops.add("DecodeCSV", [](Call& call, In<std::string> records, List defaults, State<Csv> csv) { return decode_csv(call, records, defaults, *csv); });
}

}  // namespace troupe
