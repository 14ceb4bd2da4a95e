// Virtual time: workers, network and faults are events drawn from a seed; the mathematics is real.
#pragma once

#include <troupe/actors/lab/training.hpp>

#include <queue>

namespace troupe::lab {

/// One run, from its begin to its end, on the calling thread. The same spec and case give the same bytes.
class Simulation {
 public:
  Simulation(const Spec& spec, const Case& run, Training& training, Learner& learner);
  StatusOr<RunRecord> run();

 private:
  enum class Kind { read, arrive, crash, back };
  struct Event {
    double time;
    std::int64_t order;  // of equal times, what was planned first comes first
    Kind kind;
    int worker;
    std::int64_t number;  // of the shard, or of the gradient
    std::int64_t stint;
    friend bool operator>(const Event& a, const Event& b) { return a.time != b.time ? a.time > b.time : a.order > b.order; }
  };
  struct Worker {
    bool here = false;
    double slowness = 1;
    std::int64_t stint = 0;       // events of an earlier life do not count
    int unread = 0;               // shards that have not answered
    double read_since = 0;        // when it asked
    std::int64_t computing = -1;  // the gradient it is at, until it is sent
    double sent_at = 0;
    std::int64_t draws = 0;
  };
  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  void plan(double time, Kind kind, int worker, std::int64_t number = 0);
  void start(const Training::Starts& starts);
  Status handle(const Event& event);
  Status compute(int worker);
  Status crash(int worker);
  Random draw(int worker, std::uint64_t what);

  const Spec& spec_;
  const Case& run_;
  Training& training_;
  Learner& learner_;
  std::vector<Worker> workers_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t planned_ = 0;
  double now_ = 0;
};

/// A whole run in virtual time with kernels of this process.
StatusOr<RunRecord> simulate(const Spec& spec, const Case& run, const Data& data, const RunHooks& hooks = {});

}  // namespace troupe::lab
