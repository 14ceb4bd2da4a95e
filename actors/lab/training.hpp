// A job between its workers and its shards: the policy's decisions carried out, everything counted. Knows no clock; whoever drives it says the time.
#pragma once

#include <troupe/actors/lab/policy.hpp>
#include <troupe/actors/lab/record.hpp>
#include <troupe/actors/lab/trainer.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>

namespace troupe::lab {

/// What a progress display shows.
struct Progress {
  double share = 0;  // of the length, as far as it is known
  double seconds = 0;
  std::int64_t updates = 0;
  double loss = 0, score = 0, staleness = 0;
  std::string mode;
};

/// What others want of a run. All may be empty.
struct RunHooks {
  std::function<void(const Progress&)> on_progress;  // at every scoring
  std::FILE* trace = nullptr;                        // gets every event in order, for a replay
  std::function<std::optional<Mode>()> asked_mode;   // a mode that somebody wants from now on
};

struct TrainingParts {
  const Spec& spec;
  const Case& run;
  const Model& model;
  const Data& data;
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<Learner> judge;  // scores the parameters now and then
  RunHooks hooks;
};

/// Used by one thread.
class Training {
 public:
  explicit Training(TrainingParts parts);

  using Starts = std::vector<Start>;
  StatusOr<Starts> join(int worker, double now);
  StatusOr<Starts> leave(int worker, double now);
  StatusOr<Starts> switch_to(const Mode& mode, double now);

  int shards() const { return static_cast<int>(parts_.shards.size()); }
  /// A worker that was started reads shard by shard.
  Status read(int worker, int shard);
  const Parameters& parameters_of(int worker) const { return reads_[static_cast<std::size_t>(worker)].values; }
  /// What its next gradient is computed from.
  Examples next_batch(int worker) const;
  /// A gradient exists; returns its number.
  StatusOr<std::int64_t> computed(int worker, Gradient gradient);
  Status lose(std::int64_t number);
  StatusOr<Starts> arrive(std::int64_t number, double now);

  /// How a worker spent its time.
  void note_computing(int worker, double seconds) { record_.each_worker[static_cast<std::size_t>(worker)].computing += seconds; }
  void note_sending(int worker, double seconds) { record_.each_worker[static_cast<std::size_t>(worker)].sending += seconds; }

  /// Scores and changes of mode that are due. To be called before what happens at `now`.
  StatusOr<Starts> pass_time(double now);
  /// When pass_time has something to do next; never where only updates count.
  double next_time() const;
  bool over() const { return !record_.ended.empty(); }
  void end(const std::string& why) {
    if (!over()) record_.ended = why;
  }
  /// Ends because nobody will ever send anything.
  void end_stalled();
  /// Scores once more, checks that nothing was lost, and tells all.
  StatusOr<RunRecord> finish(double now);
  const UpdatePolicy& policy() const { return policy_; }
  bool in_flight(std::int64_t number) const { return flights_.contains(number); }

 private:
  struct Flight {
    int worker = 0;
    std::vector<std::int64_t> versions;  // of the shards it was computed from
    Gradient gradient;
  };
  struct Read {
    Parameters values;
    std::vector<std::int64_t> versions;
  };
  StatusOr<Starts> carry_out(Decision decision, double now);
  Status apply(const Update& update);
  Status score(double now);
  Status score_if_due(double now);
  StatusOr<Starts> next_phase(double now);
  /// A phase that is over, or a mode that somebody asks for.
  StatusOr<Starts> changes_due(double now);
  bool phase_is_over(double now) const;
  void check_end(double now);
  void note_mode(double now);
  template <class... A>
  void log(fmt::format_string<A...> text, A&&... args);

  TrainingParts parts_;
  UpdatePolicy policy_;
  RunRecord record_;
  std::vector<Read> reads_;
  std::vector<std::int64_t> batches_;  // computed by each worker so far
  std::map<std::int64_t, Flight> flights_;
  std::int64_t next_number_ = 0;
  std::size_t phase_ = 0;
  double phase_since_ = 0;
  std::int64_t phase_updates_ = 0;
  double next_score_seconds_ = 0;
  std::int64_t next_score_updates_ = 0;
  double clock_ = 0;  // when what is logged happens
  std::uint64_t log_hash_ = 0;
};

}  // namespace troupe::lab
