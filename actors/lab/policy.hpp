// The update policy: what happens to a gradient that arrives at the shards, and who may go on computing.
#pragma once

#include <troupe/actors/lab/backup_tuner.hpp>
#include <troupe/actors/lab/bound_tuner.hpp>
#include <troupe/actors/lab/mode.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace troupe::lab {

/// A gradient on its way. Numbers are never used twice.
struct Push {
  std::int64_t number = 0;
  int worker = 0;
  std::int64_t version = 0;  // how many updates the parameters had seen that it was computed from
};

/// The mean of these gradients becomes one update, its rate times `scale`.
struct Update {
  std::vector<std::int64_t> gradients;  // in order of their workers
  double scale = 1;
  std::int64_t staleness = 0;  // updates that came between; 0 for a synchronous one
};

/// A worker that may read the parameters and compute.
struct Start {
  int worker = 0;
  double waited = 0;
  int waited_for = -1;  // whose arrival let it go; -1 where nobody's did
};

/// In this order: updates, drops, starts.
struct Decision {
  std::vector<Update> updates;
  std::vector<std::int64_t> dropped;
  std::vector<Start> starts;
};

/// What became of gradients. computed = applied + dropped + lost + those in flight, always.
struct Counts {
  std::int64_t computed = 0, applied = 0, dropped = 0, lost = 0, updates = 0;
};

/// Plain state: told what happens, in order, with the time at which it does; answers what to do. One for all workers of a job, used by one thread.
///
/// Under `sync` a gradient counts for the update it was started for; later ones are dropped and their worker starts anew, as TensorFlow's
/// SyncReplicas does. A worker that is gone is still waited for. Under `ssp` clocks count from the last change of mode, and of workers that are
/// there.
class UpdatePolicy {
 public:
  UpdatePolicy(const Mode& mode, int workers);

  /// A worker is there, or there again.
  Decision join(int worker, double now);
  /// A worker is gone. What it had sent still arrives.
  Decision leave(int worker, double now);
  /// A gradient exists from now on.
  Status computed(std::int64_t number, int worker);
  /// It went down with its worker.
  Status lose(std::int64_t number);
  StatusOr<Decision> arrive(const Push& push, double now);
  Decision switch_to(const Mode& mode, double now);

  const Mode& mode() const { return mode_; }
  /// As asked for, or as found by `auto`.
  int backups() const { return backups_; }
  int bound() const { return bound_; }
  std::int64_t version() const { return version_; }
  const Counts& counts() const { return counts_; }
  std::int64_t in_flight() const { return static_cast<std::int64_t>(in_flight_.size()); }
  /// How far ahead of the slowest a worker was allowed to start under `ssp`, at most.
  std::int64_t furthest_lead() const { return furthest_lead_; }
  /// The largest staleness of a gradient that started and arrived under the present mode, its worker there all the time.
  std::int64_t stalest() const { return stalest_; }
  /// The largest that `ssp(s)` allows while nobody crashes: the others' clocks may move by 2 s + 1 while one computes, and what was begun before
  /// the mode came does not count for them.
  std::int64_t staleness_bound() const { return static_cast<std::int64_t>(workers_.size() - 1) * (2 * widest_ + 1) + carried_over_; }
  /// Conservation and the promises of the mode; an error is our mistake.
  Status check() const;
  /// Workers that wait, and those that are waited for.
  std::vector<int> waiting() const;
  std::vector<int> missing() const;
  /// How long a worker has waited that still does.
  double waited_so_far(int worker, double now) const;

 private:
  enum class Place { gone, computing, waiting };
  struct Worker {
    Place place = Place::gone;
    std::int64_t token = 0;  // the version at its start
    std::int64_t clock = 0;
    std::int64_t era = 0;    // of the mode at its start
    std::int64_t stint = 0;  // how often it came
    double since = 0;        // when it started, or began to wait
  };
  /// A gradient in flight remembers its worker as it was when it computed.
  struct Flight {
    int id = 0;
    Worker worker;
    bool arrived = false;
  };
  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  std::size_t wanted() const { return workers_.size() - static_cast<std::size_t>(backups_); }
  /// Of those who compute now, one each, and what those who are gone had sent.
  std::int64_t gradients_to_come() const;
  void apply(std::vector<Push> pushes, double scale, Decision& out);
  bool rounds() const { return mode_.rule == Rule::sync || mode_.rule == Rule::automatic; }
  void drop(std::int64_t number, Decision& out);
  void close_round(double now, int by, Decision& out);
  void release(double now, int by, Decision& out);
  void start(int worker, double now, int by, Decision& out);
  bool may_start(const Worker& worker, std::int64_t slowest) const { return mode_.rule != Rule::ssp || worker.clock - slowest <= bound_; }
  std::int64_t slowest_clock() const;
  void set_bound(int bound);

  Mode mode_;
  std::vector<Worker> workers_;
  int backups_ = 0;
  int bound_ = 0, widest_ = 0;  // of ssp: now, and the largest since the mode came
  std::int64_t version_ = 0, era_ = 0, furthest_lead_ = 0, stalest_ = 0;
  bool somebody_left_ = false;     // since the last change of mode
  std::int64_t carried_over_ = 0;  // gradients that were begun before that change
  std::int64_t uneven_reads_ = 0;  // gradients of rounds that were computed from other parameters than the round's
  std::vector<Push> held_;         // of the round under way
  std::map<std::int64_t, Flight> in_flight_;
  Counts counts_;
  BackupTuner tuner_;
  BoundTuner bound_tuner_;
};

}  // namespace troupe::lab
