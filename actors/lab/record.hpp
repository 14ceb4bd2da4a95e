// What is known of a run when it is over.
#pragma once

#include <troupe/actors/lab/policy.hpp>
#include <troupe/messaging/status.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe::lab {

/// How often each staleness was seen.
using StalenessCounts = std::map<std::int64_t, std::int64_t>;

struct Point {
  double seconds = 0;
  std::int64_t updates = 0, gradients = 0;  // applied so far
  double loss = 0, score = 0;               // on the tests
};

struct WorkerRecord {
  double computing = 0, sending = 0, waiting = 0;  // seconds
  std::int64_t computed = 0, applied = 0, dropped = 0, lost = 0;
  StalenessCounts staleness;
  std::map<int, double> waited_for;  // seconds, by whom
};

struct ModeChange {
  double seconds = 0;
  std::int64_t updates = 0;
  std::string mode;
};

struct RunRecord {
  std::string id, mode, stage;
  int workers = 0;
  std::uint64_t seed = 0;
  std::string ended;  // "target", "updates", "gradients", "seconds", "diverged", or "stalled: ..."
  double seconds = 0;
  Counts counts;
  std::int64_t in_flight = 0;
  std::vector<Point> curve;
  std::optional<double> target_seconds;
  std::optional<std::int64_t> target_updates;
  std::vector<WorkerRecord> each_worker;
  std::map<std::string, StalenessCounts> staleness;  // by parameter
  std::vector<ModeChange> changes;                   // of mode, or of the b that `auto` found
  std::string parameters, log;                       // fingerprints of the last parameters and of everything that happened

  double seconds_per_update() const { return counts.updates ? seconds / static_cast<double>(counts.updates) : 0; }
  double gradients_per_second() const { return seconds > 0 ? static_cast<double>(counts.applied) / seconds : 0; }
  double final_score() const { return curve.empty() ? 0 : curve.back().score; }
  double mean_staleness() const;
  std::int64_t stalest() const;
  /// Share of the workers' time that was spent computing, or waiting.
  double utilisation() const;
  double waiting_share() const;
};

std::string to_json(const RunRecord& record);
StatusOr<RunRecord> record_from_json(const std::string& text);

}  // namespace troupe::lab
