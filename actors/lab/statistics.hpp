// Means over seeds and how sure they are.
#pragma once

#include <troupe/actors/lab/record.hpp>

#include <string>
#include <vector>

namespace troupe::lab {

/// A mean with half of its 95 % confidence interval (Student's t); 0 of one value.
struct Estimate {
  double mean = 0, margin = 0;
  std::size_t count = 0;
  std::string text(int digits) const;
};

Estimate estimate(const std::vector<double>& values);

/// The runs of one mode and number of workers over all seeds.
struct Group {
  std::string mode;
  int workers = 0;
  std::vector<const RunRecord*> runs;

  /// "sync+2", or "sync+2, 50 workers" where others have more or fewer.
  std::string name;
  Estimate of(double (RunRecord::*measure)() const) const;
  Estimate final_score() const { return of(&RunRecord::final_score); }
  Estimate seconds_per_update() const { return of(&RunRecord::seconds_per_update); }
  Estimate gradients_per_second() const { return of(&RunRecord::gradients_per_second); }
  Estimate mean_staleness() const { return of(&RunRecord::mean_staleness); }
  Estimate utilisation() const { return of(&RunRecord::utilisation); }
  Estimate waiting_share() const { return of(&RunRecord::waiting_share); }
  /// Of the runs that reached the target.
  Estimate target_seconds() const;
  double dropped_share() const;
  std::int64_t stalest() const;
  StalenessCounts staleness() const;
  /// The mean score of all seeds against seconds or updates, as far as all runs got.
  std::vector<std::pair<double, double>> curve(bool by_updates) const;
};

/// In the order in which they first come.
std::vector<Group> groups_of(const std::vector<RunRecord>& records);

}  // namespace troupe::lab
