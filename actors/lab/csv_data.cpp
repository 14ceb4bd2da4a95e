// Tables of numbers: a heading, then one example a line; the label is a number to predict, or a word, which makes a class.
#include <troupe/actors/lab/data.hpp>
#include <troupe/actors/lab/random.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

namespace troupe::lab {
namespace {

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') cells.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) cells.emplace_back();
    else cells.back() += c;
  }
  return cells;
}

std::optional<double> number_of(const std::string& cell) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end || !std::isfinite(value)) return std::nullopt;
  return value;
}

struct Table {
  std::vector<std::vector<double>> inputs;
  std::vector<std::string> labels;
};

StatusOr<Table> read_table(const DataSpec& spec) {
  TRY_ASSIGN(const std::string text, read_file(spec.file));
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto heading = cells_of(line);
  std::size_t label = 0;
  while (label < heading.size() && heading[label] != spec.label) ++label;
  if (label == heading.size()) return invalid("{}:1: no column '{}'; there are {}", spec.file, spec.label, fmt::join(heading, ", "));
  Table table;
  for (int number = 2; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \r") == std::string::npos) continue;
    const auto cells = cells_of(line);
    if (cells.size() != heading.size()) return invalid("{}:{}: {} values under {} headings", spec.file, number, cells.size(), heading.size());
    auto& row = table.inputs.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == label) continue;
      const auto value = number_of(cells[i]);
      if (!value) return invalid("{}:{}: '{}' in column {} is not a number", spec.file, number, cells[i], heading[i]);
      row.push_back(*value);
    }
    table.labels.push_back(cells[label]);
  }
  if (table.labels.size() < 5 || heading.size() < 2) return invalid("{}: {} examples are too few", spec.file, table.labels.size());
  return table;
}

/// Every column gets mean 0 and variance 1.
void standardize(std::vector<std::vector<double>>& rows) {
  const auto n = static_cast<double>(rows.size());
  for (std::size_t c = 0; c < rows[0].size(); ++c) {
    double sum = 0, squares = 0;
    for (const auto& row : rows) sum += row[c];
    for (const auto& row : rows) squares += (row[c] - sum / n) * (row[c] - sum / n);
    const double spread = squares > 0 ? std::sqrt(squares / n) : 1;
    for (auto& row : rows) row[c] = (row[c] - sum / n) / spread;
  }
}

}  // namespace

/// Every fifth example, in an order of chance, is a test.
StatusOr<Data> read_csv(const DataSpec& spec) {
  TRY_ASSIGN(Table table, read_table(spec));
  standardize(table.inputs);
  const auto rows = static_cast<std::int64_t>(table.labels.size());
  Examples all{Tensor(DType::f32, Shape{rows, static_cast<std::int64_t>(table.inputs[0].size())}), {}};
  float* to = all.inputs.mutable_data<float>();
  for (const auto& row : table.inputs)
    for (double value : row) *to++ = static_cast<float>(value);
  bool numbers = true;
  std::map<std::string, std::int64_t> classes;
  for (const auto& label : table.labels) {
    numbers = numbers && number_of(label);
    classes.emplace(label, 0);
  }
  Data data;
  if (numbers) {
    all.outputs = Tensor(DType::f32, Shape{rows});
    for (std::int64_t i = 0; i < rows; ++i)
      all.outputs.mutable_data<float>()[i] = static_cast<float>(*number_of(table.labels[static_cast<std::size_t>(i)]));
  } else {
    for (auto& [label, number] : classes) number = data.classes++;
    all.outputs = Tensor(DType::i64, Shape{rows});
    for (std::int64_t i = 0; i < rows; ++i) all.outputs.mutable_data<std::int64_t>()[i] = classes[table.labels[static_cast<std::size_t>(i)]];
  }
  std::vector<std::int64_t> order, train, test;
  for (std::int64_t i = 0; i < rows; ++i) order.push_back(i);
  Random random({0xc57});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 0; i < order.size(); ++i) (i % 5 == 4 ? test : train).push_back(order[i]);
  data.train = all.pick(train);
  data.test = all.pick(test);
  return data;
}

}  // namespace troupe::lab
