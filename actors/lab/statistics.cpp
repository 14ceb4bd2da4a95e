// Summaries of runs.
#include <troupe/actors/lab/statistics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace troupe::lab {
namespace {

/// The 97.5 % quantile of Student's t with n - 1 degrees of freedom.
double student(std::size_t n) {
  static constexpr std::array<double, 30> table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                                2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                                2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return n - 1 <= table.size() ? table[n - 2] : 1.96;
}

double at_x(const std::vector<std::pair<double, double>>& line, double x) {
  const auto after = std::lower_bound(line.begin(), line.end(), x, [](const auto& p, double v) { return p.first < v; });
  if (after == line.begin()) return line.front().second;
  if (after == line.end()) return line.back().second;
  const auto before = after - 1;
  const double width = after->first - before->first;
  return width > 0 ? before->second + (after->second - before->second) * (x - before->first) / width : after->second;
}

}  // namespace

std::string Estimate::text(int digits) const {
  if (count == 0) return "-";
  return count == 1 ? fmt::format("{:.{}f}", mean, digits) : fmt::format("{:.{}f} ± {:.{}f}", mean, digits, margin, digits);
}

Estimate estimate(const std::vector<double>& values) {
  Estimate e;
  e.count = values.size();
  if (values.empty()) return e;
  for (double v : values) e.mean += v / static_cast<double>(values.size());
  if (values.size() < 2) return e;
  double squares = 0;
  for (double v : values) squares += (v - e.mean) * (v - e.mean);
  const auto n = static_cast<double>(values.size());
  e.margin = student(values.size()) * std::sqrt(squares / (n - 1) / n);
  return e;
}

Estimate Group::of(double (RunRecord::*measure)() const) const {
  std::vector<double> values;
  for (const RunRecord* run : runs) values.push_back((run->*measure)());
  return estimate(values);
}

Estimate Group::target_seconds() const {
  std::vector<double> values;
  for (const RunRecord* run : runs)
    if (run->target_seconds) values.push_back(*run->target_seconds);
  return estimate(values);
}

double Group::dropped_share() const {
  double dropped = 0, computed = 0;
  for (const RunRecord* run : runs) {
    dropped += static_cast<double>(run->counts.dropped);
    computed += static_cast<double>(run->counts.computed);
  }
  return computed > 0 ? dropped / computed : 0;
}

std::int64_t Group::stalest() const {
  std::int64_t most = 0;
  for (const RunRecord* run : runs) most = std::max(most, run->stalest());
  return most;
}

StalenessCounts Group::staleness() const {
  StalenessCounts all;
  for (const RunRecord* run : runs)
    for (const auto& worker : run->each_worker)
      for (const auto& [staleness, count] : worker.staleness) all[staleness] += count;
  return all;
}

std::vector<std::pair<double, double>> Group::curve(bool by_updates) const {
  std::vector<std::vector<std::pair<double, double>>> lines;
  double end = INFINITY;
  for (const RunRecord* run : runs) {
    auto& line = lines.emplace_back();
    for (const Point& p : run->curve)
      if (std::isfinite(p.score)) line.emplace_back(by_updates ? static_cast<double>(p.updates) : p.seconds, p.score);
    if (line.empty()) return {};
    end = std::min(end, line.back().first);
  }
  std::set<double> xs;
  for (const auto& line : lines)
    for (const auto& [x, y] : line)
      if (x <= end) xs.insert(x);
  std::vector<std::pair<double, double>> mean;
  for (double x : xs) {
    double sum = 0;
    for (const auto& line : lines) sum += at_x(line, x);
    mean.emplace_back(x, sum / static_cast<double>(lines.size()));
  }
  return mean;
}

std::vector<Group> groups_of(const std::vector<RunRecord>& records) {
  std::vector<Group> groups;
  std::set<int> sizes;
  for (const RunRecord& record : records) {
    sizes.insert(record.workers);
    auto same = [&](const Group& g) { return g.mode == record.mode && g.workers == record.workers; };
    auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) found = groups.insert(groups.end(), {record.mode, record.workers, {}, {}});
    found->runs.push_back(&record);
  }
  for (Group& g : groups) g.name = sizes.size() < 2 ? g.mode : fmt::format("{}, {} worker{}", g.mode, g.workers, g.workers == 1 ? "" : "s");
  return groups;
}

}  // namespace troupe::lab
