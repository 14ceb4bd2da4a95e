// Work for real workers.
#include <troupe/actors/lab/job.hpp>

#include <chrono>
#include <set>

namespace troupe::lab {
namespace {

using Promise = caf::typed_response_promise<AssignmentPtr>;

struct JobState {
  std::unique_ptr<Training> training;
  std::map<int, Promise> idle;  // workers that wait for an answer
  std::set<int> there;
  std::size_t gone_for_good = 0;
  Status failed;
  std::optional<std::chrono::steady_clock::time_point> begin;

  double now() {
    const auto time = std::chrono::steady_clock::now();
    if (!begin) begin = time;
    return std::chrono::duration<double>(time - *begin).count();
  }
  bool over() const { return !failed.ok() || training->over(); }

  void deliver(const Deliver& message, Promise promise) {
    idle[message.worker] = std::move(promise);
    follow(take(message));
  }
  StatusOr<Training::Starts> take(const Deliver& message) {
    if (over()) return Training::Starts{};
    const double time = now();
    if (time == 0) TRY(training->pass_time(0).status());
    if (there.insert(message.worker).second) return training->join(message.worker, time);
    training->note_computing(message.worker, message.computing);
    TRY_ASSIGN(const std::int64_t number, training->computed(message.worker, *message.gradient));
    return training->arrive(number, time);
  }
  void crash(const Crashed& message) { follow(lose(message)); }
  StatusOr<Training::Starts> lose(const Crashed& message) {
    if (over() || !there.erase(message.worker)) return Training::Starts{};
    TRY_ASSIGN(const std::int64_t number, training->computed(message.worker, *message.gradient));
    TRY(training->lose(number));
    gone_for_good += message.for_good;
    return training->leave(message.worker, now());
  }
  void fail(const Status& reason) {
    if (failed.ok()) failed = reason;
    follow(Training::Starts{});
  }
  /// Those that are left wait for those that never come.
  bool stalled() const { return gone_for_good > 0 && training->policy().waiting().size() == there.size() && idle.size() == there.size(); }
  void look_at_the_clock() {
    if (!over() && stalled() && training->policy().missing().size() == gone_for_good) training->end_stalled();
    if (!over() && begin) follow(training->pass_time(now()));
    else follow(Training::Starts{});
  }

  void follow(const StatusOr<Training::Starts>& starts) {
    if (!starts.ok()) failed = starts.status();
    if (!over())
      for (const Start& start : *starts)
        if (const Status status = assign(start.worker); !status.ok()) failed = status;
    if (!over()) return;
    for (auto& [worker, promise] : idle) promise.deliver(std::make_shared<const Assignment>(Assignment{true, {}, {}}));
    idle.clear();
  }
  Status assign(int worker) {
    const auto found = idle.find(worker);
    if (found == idle.end()) return internal("Worker {} is started but not idle", worker);
    for (int shard = 0; shard < training->shards(); ++shard) TRY(training->read(worker, shard));
    found->second.deliver(std::make_shared<const Assignment>(Assignment{false, training->parameters_of(worker), training->next_batch(worker)}));
    idle.erase(found);
    return absl::OkStatus();
  }
  RecordPtr conclude() {
    if (!failed.ok()) return std::make_shared<const StatusOr<RunRecord>>(failed);
    return std::make_shared<const StatusOr<RunRecord>>(training->finish(now()));
  }
};

Job::behavior_type job(Job::stateful_pointer<JobState> self, std::shared_ptr<TrainingParts> parts) {
  self->state.training = std::make_unique<Training>(std::move(*parts));
  self->delayed_send(self, std::chrono::milliseconds(10), LookAtTheClock{});
  return {
      [=](const Deliver& message) {
        auto promise = self->make_response_promise<AssignmentPtr>();
        self->state.deliver(message, promise);
        return promise;
      },
      [=](const Crashed& message) { self->state.crash(message); },
      [=](const WorkerFailed& message) { self->state.fail(message.reason); },
      [=](LookAtTheClock) {
        self->state.look_at_the_clock();
        if (!self->state.over()) self->delayed_send(self, std::chrono::milliseconds(10), LookAtTheClock{});
      },
      [=](Conclude) { return self->state.conclude(); },
  };
}

}  // namespace

Job spawn_job(caf::actor_system& system, TrainingParts parts) {
  return system.spawn<caf::detached>(job, std::make_shared<TrainingParts>(std::move(parts)));
}

}  // namespace troupe::lab
