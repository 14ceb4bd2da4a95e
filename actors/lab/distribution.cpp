// Draws of times.
#include <troupe/actors/lab/distribution.hpp>

#include <troupe/ops/files/local_files.hpp>

#include <cstdlib>
#include <sstream>

namespace troupe::lab {

double Distribution::draw(Random& random) const {
  switch (kind_) {
    case Kind::constant: return a_;
    case Kind::exponential: return -a_ * std::log1p(-random.unit());
    case Kind::pareto: return a_ / std::pow(1 - random.unit(), 1 / b_);
    case Kind::recorded: return times_[random.below(times_.size())];
  }
  return 0;
}

std::string Distribution::describe() const {
  switch (kind_) {
    case Kind::constant: return fmt::format("constant {} s", a_);
    case Kind::exponential: return fmt::format("exponential, mean {} s", a_);
    case Kind::pareto: return fmt::format("Pareto, scale {} s, shape {}", a_, b_);
    case Kind::recorded: return fmt::format("{} recorded times", times_.size());
  }
  return "";
}

StatusOr<std::vector<double>> read_times(const std::string& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  std::vector<double> times;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    char* end = nullptr;
    const double time = std::strtod(line.c_str(), &end);
    if (std::string(end).find_first_not_of(" \t\r") != std::string::npos || !(time >= 0) || !std::isfinite(time))
      return invalid("{}:{}: '{}' is no time in seconds", file, number, line);
    times.push_back(time);
  }
  if (times.empty()) return invalid("{}: no times in it", file);
  return times;
}

}  // namespace troupe::lab
