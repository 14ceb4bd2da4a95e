// How long computing and sending take in an experiment: distributions of times in seconds.
#pragma once

#include <troupe/actors/lab/random.hpp>
#include <troupe/messaging/status.hpp>

#include <string>
#include <vector>

namespace troupe::lab {

class Distribution {
 public:
  Distribution() : Distribution(constant(0)) {}
  static Distribution constant(double seconds) { return {Kind::constant, seconds, 0, {}}; }
  static Distribution exponential(double mean) { return {Kind::exponential, mean, 0, {}}; }
  /// At least `scale`; heavy-tailed: the smaller the shape, the heavier, with no mean at 1 and below.
  static Distribution pareto(double scale, double shape) { return {Kind::pareto, scale, shape, {}}; }
  /// Each of these as likely as the others.
  static Distribution recorded(std::vector<double> seconds) { return {Kind::recorded, 0, 0, std::move(seconds)}; }

  double draw(Random& random) const;
  std::string describe() const;

 private:
  enum class Kind { constant, exponential, pareto, recorded };
  Distribution(Kind kind, double a, double b, std::vector<double> times) : kind_(kind), a_(a), b_(b), times_(std::move(times)) {}
  Kind kind_;
  double a_, b_;
  std::vector<double> times_;
};

/// Times in seconds, one a line; empty lines and what follows a # are skipped.
StatusOr<std::vector<double>> read_times(const std::string& file);

}  // namespace troupe::lab
