// The course of a job.
#include <troupe/actors/lab/training.hpp>

#include <troupe/messaging/hash64.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::lab {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Forty scores where nothing else is said.
double score_seconds(const Spec& spec) {
  if (spec.evaluate_seconds) return *spec.evaluate_seconds;
  if (spec.evaluate_updates || !spec.length.seconds) return never;
  return *spec.length.seconds / 40;
}

std::int64_t score_updates(const Spec& spec) {
  if (spec.evaluate_updates) return *spec.evaluate_updates;
  if (spec.evaluate_seconds || spec.length.seconds) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(1, spec.length.updates.value_or(spec.length.gradients.value_or(40)) / 40);
}

}  // namespace

template <class... A>
void Training::log(fmt::format_string<A...> text, A&&... args) {
  const std::string line = fmt::format(text, std::forward<A>(args)...);
  log_hash_ = hash64(fmt::format("{:016x} {:a} {}", log_hash_, clock_, line));
  if (parts_.hooks.trace) fmt::print(parts_.hooks.trace, "{}\n", line);
}

Training::Training(TrainingParts parts)
    : parts_(std::move(parts)),
      policy_(parts_.run.mode.phases[0].mode, parts_.run.workers),
      reads_(static_cast<std::size_t>(parts_.run.workers)),
      batches_(static_cast<std::size_t>(parts_.run.workers)),
      next_score_updates_(0) {
  record_.id = parts_.run.id();
  record_.mode = parts_.run.mode.name;
  record_.stage = name_of(parts_.spec.stage);
  record_.workers = parts_.run.workers;
  record_.seed = parts_.run.seed;
  record_.each_worker.resize(static_cast<std::size_t>(parts_.run.workers));
  for (auto& read : reads_) read.versions.resize(parts_.shards.size());
  note_mode(0);
}

StatusOr<Training::Starts> Training::join(int worker, double now) { return carry_out(policy_.join(worker, now), now); }
StatusOr<Training::Starts> Training::leave(int worker, double now) { return carry_out(policy_.leave(worker, now), now); }

StatusOr<Training::Starts> Training::switch_to(const Mode& mode, double now) {
  TRY_ASSIGN(auto starts, carry_out(policy_.switch_to(mode, now), now));
  note_mode(now);
  return starts;
}

Status Training::read(int worker, int shard) {
  Read& mine = reads_[static_cast<std::size_t>(worker)];
  Shard& from = *parts_.shards[static_cast<std::size_t>(shard)];
  TRY(from.read(mine.values));
  mine.versions[static_cast<std::size_t>(shard)] = from.version();
  log("read {} {}", worker, shard);
  return absl::OkStatus();
}

Examples Training::next_batch(int worker) const {
  return batch_of(parts_.data.train, parts_.spec.batch, parts_.run.seed, worker, batches_[static_cast<std::size_t>(worker)]);
}

StatusOr<std::int64_t> Training::computed(int worker, Gradient gradient) {
  const std::int64_t number = next_number_++;
  TRY(policy_.computed(number, worker));
  log("compute {} {} {}", number, worker, batches_[static_cast<std::size_t>(worker)]++);
  if (!std::isfinite(gradient.loss)) end("diverged");
  flights_[number] = {worker, reads_[static_cast<std::size_t>(worker)].versions, std::move(gradient)};
  ++record_.each_worker[static_cast<std::size_t>(worker)].computed;
  return number;
}

Status Training::lose(std::int64_t number) {
  TRY(policy_.lose(number));
  log("lose {}", number);
  const auto found = flights_.find(number);
  ++record_.each_worker[static_cast<std::size_t>(found->second.worker)].lost;
  flights_.erase(found);
  return absl::OkStatus();
}

StatusOr<Training::Starts> Training::arrive(std::int64_t number, double now) {
  clock_ = now;
  const auto found = flights_.find(number);
  if (found == flights_.end()) return internal("Gradient {} arrives but does not exist", number);
  const auto& versions = found->second.versions;
  TRY_ASSIGN(auto decision, policy_.arrive({number, found->second.worker, *std::min_element(versions.begin(), versions.end())}, now));
  TRY_ASSIGN(auto starts, carry_out(std::move(decision), now));
  TRY_ASSIGN(const auto more, changes_due(now));
  starts.insert(starts.end(), more.begin(), more.end());
  return starts;
}

StatusOr<Training::Starts> Training::changes_due(double now) {
  if (over()) return Starts{};
  if (parts_.hooks.asked_mode)
    if (const auto mode = parts_.hooks.asked_mode(); mode && check_mode(*mode, record_.workers).ok()) return switch_to(*mode, now);
  return phase_is_over(now) ? next_phase(now) : Starts{};
}

StatusOr<Training::Starts> Training::carry_out(Decision decision, double now) {
  for (const Update& update : decision.updates) {
    TRY(apply(update));
    TRY(score_if_due(now));
  }
  for (std::int64_t number : decision.dropped) {
    log("drop {}", number);
    const auto found = flights_.find(number);
    ++record_.each_worker[static_cast<std::size_t>(found->second.worker)].dropped;
    flights_.erase(found);
  }
  for (const Start& start : decision.starts) {
    auto& worker = record_.each_worker[static_cast<std::size_t>(start.worker)];
    worker.waiting += start.waited;
    if (start.waited_for >= 0) worker.waited_for[start.waited_for] += start.waited;
  }
  check_end(now);
  if (!decision.updates.empty() && (policy_.mode().rule == Rule::automatic || policy_.mode().adapts)) note_mode(now);
  return std::move(decision.starts);
}

Status Training::apply(const Update& update) {
  std::vector<const Gradient*> gradients;
  for (std::int64_t number : update.gradients) {
    const Flight& flight = flights_.at(number);
    gradients.push_back(&flight.gradient);
    auto& worker = record_.each_worker[static_cast<std::size_t>(flight.worker)];
    std::int64_t stalest = 0;
    for (std::size_t s = 0; s < parts_.shards.size(); ++s) {
      const std::int64_t staleness = parts_.shards[s]->version() - flight.versions[s];
      stalest = std::max(stalest, staleness);
      for (std::size_t p : parts_.shards[s]->parameters()) ++record_.staleness[parts_.model.parameters[p].name][staleness];
    }
    ++worker.staleness[stalest];
    ++worker.applied;
  }
  const Gradient mean = mean_of(parts_.model, gradients);
  log("apply {:a} {}", update.scale, fmt::join(update.gradients, " "));
  for (auto& shard : parts_.shards) TRY(shard->apply(mean, parts_.spec.optimizer.rate * update.scale));
  for (std::int64_t number : update.gradients) flights_.erase(number);
  return absl::OkStatus();
}

Status Training::score_if_due(double now) {
  if (policy_.version() < next_score_updates_) return absl::OkStatus();
  return score(now);
}

Status Training::score(double now) {
  Parameters all;
  for (auto& shard : parts_.shards) TRY(shard->read(all));
  TRY_ASSIGN(const Score found, parts_.judge->score(all, parts_.data.test));
  const std::int64_t updates = policy_.version();
  if (record_.curve.empty() || record_.curve.back().updates != updates || record_.curve.back().seconds != now)
    record_.curve.push_back({now, updates, policy_.counts().applied, found.loss, found.score});
  if (!std::isfinite(found.loss)) end("diverged");
  if (parts_.spec.target && !record_.target_seconds && found.score >= *parts_.spec.target) {
    record_.target_seconds = now;
    record_.target_updates = updates;
    if (parts_.spec.length.stop_at_target) end("target");
  }
  if (const auto step = score_updates(parts_.spec); step != std::numeric_limits<std::int64_t>::max()) next_score_updates_ = updates + step;
  else next_score_updates_ = step;
  if (parts_.hooks.on_progress) {
    const Length& l = parts_.spec.length;
    double share = 0;
    if (l.updates) share = std::max(share, static_cast<double>(updates) / static_cast<double>(*l.updates));
    if (l.gradients) share = std::max(share, static_cast<double>(policy_.counts().applied) / static_cast<double>(*l.gradients));
    if (l.seconds) share = std::max(share, now / *l.seconds);
    parts_.hooks.on_progress({std::min(share, 1.0), now, updates, found.loss, found.score, record_.mean_staleness(), name_of(policy_.mode())});
  }
  return absl::OkStatus();
}

double Training::next_time() const {
  double next = next_score_seconds_;
  if (const auto& length = parts_.run.mode.phases[phase_].seconds) next = std::min(next, phase_since_ + *length);
  if (parts_.spec.length.seconds) next = std::min(next, *parts_.spec.length.seconds);
  return next;
}

StatusOr<Training::Starts> Training::pass_time(double now) {
  clock_ = now;
  if (now >= next_score_seconds_) {
    TRY(score(now));
    next_score_seconds_ = next_score_seconds_ == 0 && score_seconds(parts_.spec) == never ? never : next_score_seconds_ + score_seconds(parts_.spec);
  }
  check_end(now);
  return changes_due(now);
}

bool Training::phase_is_over(double now) const {
  const Phase& phase = parts_.run.mode.phases[phase_];
  return (phase.seconds && now >= phase_since_ + *phase.seconds) || (phase.updates && policy_.version() >= phase_updates_ + *phase.updates);
}

StatusOr<Training::Starts> Training::next_phase(double now) {
  ++phase_;
  phase_since_ = now;
  phase_updates_ = policy_.version();
  return switch_to(parts_.run.mode.phases[phase_].mode, now);
}

void Training::check_end(double now) {
  const Length& l = parts_.spec.length;
  if (l.updates && policy_.version() >= *l.updates) end("updates");
  if (l.gradients && policy_.counts().applied >= *l.gradients) end("gradients");
  if (l.seconds && now >= *l.seconds) end("seconds");
}

void Training::end_stalled() { end(fmt::format("stalled: {} wait for worker {}", policy_.waiting().size(), fmt::join(policy_.missing(), ", "))); }

void Training::note_mode(double now) {
  std::string name = name_of(policy_.mode());
  if (policy_.mode().rule == Rule::automatic) name += fmt::format(", b = {}", policy_.backups());
  if (policy_.mode().adapts) name += fmt::format(", s = {}", policy_.bound());
  if (!record_.changes.empty() && record_.changes.back().mode == name) return;
  log("mode {}", name);
  record_.changes.push_back({now, policy_.version(), name});
}

StatusOr<RunRecord> Training::finish(double now) {
  TRY(policy_.check());
  TRY(score(now));
  record_.seconds = now;
  record_.counts = policy_.counts();
  record_.in_flight = policy_.in_flight();
  for (int w = 0; w < record_.workers; ++w) record_.each_worker[static_cast<std::size_t>(w)].waiting += policy_.waited_so_far(w, now);
  if (record_.in_flight != static_cast<std::int64_t>(flights_.size()))
    return internal("The policy has {} gradients in flight, the job {}", record_.in_flight, flights_.size());
  Parameters all;
  for (auto& shard : parts_.shards) TRY(shard->read(all));
  record_.parameters = fmt::format("{:016x}", fingerprint(all));
  log("end {}", record_.parameters);
  record_.log = fmt::format("{:016x}", log_hash_);
  return record_;
}

}  // namespace troupe::lab
