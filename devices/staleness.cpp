// Counting of versions between reads and updates.
#include <troupe/devices/staleness.hpp>

#include <troupe/ops/resources/variable.hpp>

#include <algorithm>

namespace troupe {
namespace {

/// Names that programs make up as they go must not fill the memory.
constexpr std::size_t most_names = 10'000;

template <class Map>
auto& entry(Map& map, const std::string& name) {
  if (auto found = map.find(name); found != map.end()) return found->second;
  return map[map.size() < most_names ? name : "(others)"];
}

}  // namespace

void Spread::add(double value) {
  ++buckets[static_cast<std::size_t>(std::lower_bound(limits.begin(), limits.end(), value) - limits.begin())];
  ++count;
  sum += value;
  squares += value * value;
  most = std::max(most, value);
}

void Staleness::updated(const std::string& variable, const std::string& worker, std::uint64_t version, std::uint64_t staleness) {
  std::lock_guard lock(mutex_);
  entry(counts_.variables, variable).add(static_cast<double>(staleness));
  entry(counts_.workers, worker).add(static_cast<double>(staleness));
  entry(counts_.versions, variable) = version;
}

void Staleness::gradient(const std::string& accumulator, const std::string& worker, bool dropped) {
  std::lock_guard lock(mutex_);
  for (Gradients* counts : {&entry(counts_.accumulators, accumulator), &entry(counts_.senders, worker)})
    ++(dropped ? counts->dropped : counts->taken);
}

void Staleness::waited(const std::string& worker, const char* what, double seconds) {
  std::lock_guard lock(mutex_);
  Waits& waits = counts_.waits[{worker, what}];
  ++waits.count;
  waits.seconds += seconds;
}

Staleness::Counts Staleness::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void StepSight::reads(const Variable& variable) { seen_.emplace(&variable, variable.version()); }

void StepSight::updates(const Variable& variable) {
  auto seen = seen_.find(&variable);
  if (seen == seen_.end()) return;
  const std::uint64_t now = variable.version();
  // A variable that was forgotten meanwhile counts anew.
  book_->updated(variable.name(), worker_, now + 1, now >= seen->second ? now - seen->second : 0);
  seen_.erase(seen);
}

}  // namespace troupe
