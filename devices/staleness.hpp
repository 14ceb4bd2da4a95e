// How old the versions are that updates were computed from, which gradients came too late, and how long steps waited: for a node's metrics.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace troupe {

class Variable;

/// Numbers in buckets: 0, 1, 2, up to 4, 8, ... and beyond.
struct Spread {
  static constexpr std::array<double, 13> limits{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  std::array<std::uint64_t, limits.size() + 1> buckets{};
  std::uint64_t count = 0;
  double sum = 0, squares = 0, most = 0;

  void add(double value);
};

/// Of a device. Any thread may use it.
class Staleness {
 public:
  struct Gradients {
    std::uint64_t taken = 0, dropped = 0;
  };
  struct Waits {
    std::uint64_t count = 0;
    double seconds = 0;
  };
  /// By name of a variable, worker (the task whose master runs the steps), accumulator; waits by worker and by what was waited for.
  struct Counts {
    std::map<std::string, Spread> variables, workers;
    std::map<std::string, std::uint64_t> versions;
    std::map<std::string, Gradients> accumulators, senders;
    std::map<std::pair<std::string, std::string>, Waits> waits;
  };

  void updated(const std::string& variable, const std::string& worker, std::uint64_t version, std::uint64_t staleness);
  void gradient(const std::string& accumulator, const std::string& worker, bool dropped);
  void waited(const std::string& worker, const char* what, double seconds);
  Counts counts() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;
};

/// What one step has seen; touched on its device's actor. Updates of variables that it has not read are nobody's business.
class StepSight {
 public:
  StepSight(std::shared_ptr<Staleness> book, std::string worker) : book_(std::move(book)), worker_(std::move(worker)) {}

  /// The first read counts: what is computed may come from that.
  void reads(const Variable& variable);
  /// Before the update.
  void updates(const Variable& variable);
  void gradient(const std::string& accumulator, bool dropped) { book_->gradient(accumulator, worker_, dropped); }
  void waited(const char* what, double seconds) { book_->waited(worker_, what, seconds); }

 private:
  std::shared_ptr<Staleness> book_;
  std::string worker_;
  std::unordered_map<const Variable*, std::uint64_t> seen_;
};

}  // namespace troupe
