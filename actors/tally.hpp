// Counts of the calls that a node answered, as a summary for TensorBoard.
#pragma once

#include <troupe/wire/summary.pb.h>
#include <troupe/ops/summary/histogram.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A call from its arrival to its answer.
struct Answered {
  int method = 0;
  bool failed = false;
  std::uint64_t received = 0, sent = 0;  // bytes of the bodies
  double seconds = 0;
};

/// Not shared: an actor has it.
class Tally {
 public:
  explicit Tally(std::vector<std::string> methods) : methods_(std::move(methods)), counts_(methods_.size()) {}

  void add(const Answered& call);
  /// Totals since the start, and how long the calls took that were answered since the last report.
  wire::Summary report();

 private:
  struct Counts {
    std::uint64_t calls = 0, failed = 0, received = 0, sent = 0;
    double seconds = 0;
    std::uint64_t lately = 0;
    Histogram durations;  // of the last ones
  };
  void report_of(const std::string& name, const Counts& counts, wire::Summary& summary);

  std::vector<std::string> methods_;
  std::vector<Counts> counts_;
};

/// A scalar as TensorFlow 2 writes it, but a double: integers up to 2^53 stay what they are.
void add_number(const std::string& tag, double value, wire::Summary& summary);

}  // namespace troupe
