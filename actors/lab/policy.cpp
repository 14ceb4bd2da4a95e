// Decisions about gradients that arrive.
#include <troupe/actors/lab/policy.hpp>

#include <algorithm>

namespace troupe::lab {

UpdatePolicy::UpdatePolicy(const Mode& mode, int workers)
    : mode_(mode), workers_(static_cast<std::size_t>(workers)), tuner_(workers), bound_tuner_(workers) {
  set_bound(mode.adapts ? BoundTuner::first_guess : mode.bound);
  backups_ = mode.rule == Rule::automatic ? tuner_.first_guess() : mode.backups;
}

Decision UpdatePolicy::join(int worker, double now) {
  Decision out;
  Worker& w = at(worker);
  if (w.place != Place::gone) return out;
  w.clock = slowest_clock();
  w.place = Place::waiting;
  w.since = now;
  ++w.stint;
  // Of a round that it has sent a gradient for already, it waits for the end.
  const bool has_sent = std::any_of(held_.begin(), held_.end(), [&](const Push& p) { return p.worker == worker; });
  if (!has_sent && may_start(w, slowest_clock())) start(worker, now, -1, out);
  return out;
}

Decision UpdatePolicy::leave(int worker, double now) {
  Decision out;
  at(worker).place = Place::gone;
  somebody_left_ = true;
  if (mode_.rule == Rule::ssp) release(now, worker, out);
  return out;
}

Status UpdatePolicy::computed(std::int64_t number, int worker) {
  if (!in_flight_.emplace(number, Flight{worker, at(worker)}).second) return internal("Gradient {} exists twice", number);
  ++counts_.computed;
  return absl::OkStatus();
}

Status UpdatePolicy::lose(std::int64_t number) {
  const auto found = in_flight_.find(number);
  if (found == in_flight_.end() || found->second.arrived) return internal("Gradient {} is lost but was not under way", number);
  in_flight_.erase(found);
  ++counts_.lost;
  return absl::OkStatus();
}

StatusOr<Decision> UpdatePolicy::arrive(const Push& push, double now) {
  const auto found = in_flight_.find(push.number);
  if (found == in_flight_.end() || found->second.id != push.worker || std::exchange(found->second.arrived, true))
    return internal("Gradient {} of worker {} arrives but is not under way", push.number, push.worker);
  const Worker sent = found->second.worker;
  Decision out;
  Worker& w = at(push.worker);
  const bool here = w.place == Place::computing && w.stint == sent.stint;
  tuner_.note(push.worker, now - sent.since);
  if (here) {
    w.place = Place::waiting;
    w.since = now;
  }
  if (mode_.adapts) {
    bound_tuner_.note(0, now - sent.since);
    set_bound(bound_tuner_.review(bound_));
  }
  if (!rounds()) {
    const std::int64_t staleness = version_ - push.version;
    if (here && sent.era == era_) stalest_ = std::max(stalest_, staleness);
    if (here && sent.era == era_) ++w.clock;
    apply({push}, mode_.aware ? 1.0 / static_cast<double>(std::max<std::int64_t>(1, staleness)) : 1.0, out);
    release(now, push.worker, out);
    return out;
  }
  if (sent.token < version_ || sent.era != era_) {
    drop(push.number, out);
    if (here) start(push.worker, now, -1, out);
    return out;
  }
  held_.push_back(push);
  close_round(now, push.worker, out);
  return out;
}

void UpdatePolicy::close_round(double now, int by, Decision& out) {
  if (held_.size() < wanted()) return;
  apply(std::exchange(held_, {}), 1.0, out);
  if (mode_.rule == Rule::automatic) backups_ = tuner_.review(backups_);
  release(now, by, out);
}

Decision UpdatePolicy::switch_to(const Mode& mode, double now) {
  Decision out;
  if (mode == mode_) return out;
  const bool had_rounds = rounds();
  mode_ = mode;
  backups_ = mode.rule == Rule::automatic ? (had_rounds ? backups_ : tuner_.first_guess()) : mode.backups;
  stalest_ = furthest_lead_ = 0;
  widest_ = 0;
  set_bound(mode.adapts ? BoundTuner::first_guess : mode.bound);
  if (rounds() && had_rounds) {
    close_round(now, -1, out);
    return out;
  }
  // Gradients that are being computed now belong to no mode: they saw parameters that the new one would not have shown them.
  ++era_;
  somebody_left_ = false;
  for (Worker& w : workers_) w.clock = 0;
  for (const Push& push : std::exchange(held_, {})) apply({push}, 1.0, out);
  carried_over_ = gradients_to_come();
  release(now, -1, out);
  return out;
}

std::int64_t UpdatePolicy::gradients_to_come() const {
  const auto of_the_computing = [this](const Flight& flight) {
    const Worker& w = workers_[static_cast<std::size_t>(flight.id)];
    return w.place == Place::computing && w.stint == flight.worker.stint;
  };
  return std::count_if(workers_.begin(), workers_.end(), [](const Worker& w) { return w.place == Place::computing; }) +
         std::count_if(in_flight_.begin(), in_flight_.end(), [&](const auto& entry) { return !of_the_computing(entry.second); });
}

void UpdatePolicy::apply(std::vector<Push> pushes, double scale, Decision& out) {
  std::sort(pushes.begin(), pushes.end(), [](const Push& a, const Push& b) { return a.worker < b.worker; });
  Update update{{}, scale, 0};
  for (const Push& push : pushes) {
    update.gradients.push_back(push.number);
    update.staleness = std::max(update.staleness, version_ - push.version);
    if (rounds() && push.version != version_) ++uneven_reads_;
    in_flight_.erase(push.number);
  }
  counts_.applied += static_cast<std::int64_t>(pushes.size());
  ++counts_.updates;
  ++version_;
  out.updates.push_back(std::move(update));
}

void UpdatePolicy::drop(std::int64_t number, Decision& out) {
  in_flight_.erase(number);
  ++counts_.dropped;
  out.dropped.push_back(number);
}

void UpdatePolicy::release(double now, int by, Decision& out) {
  const std::int64_t slowest = mode_.rule == Rule::ssp ? slowest_clock() : 0;
  for (std::size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].place == Place::waiting && may_start(workers_[i], slowest)) start(static_cast<int>(i), now, by, out);
}

void UpdatePolicy::start(int worker, double now, int by, Decision& out) {
  Worker& w = at(worker);
  const double waited = now - w.since;
  if (mode_.adapts) bound_tuner_.note(waited, 0);
  if (mode_.rule == Rule::ssp) furthest_lead_ = std::max(furthest_lead_, w.clock - slowest_clock());
  w.place = Place::computing;
  w.token = version_;
  w.era = era_;
  w.since = now;
  out.starts.push_back({worker, waited, waited > 0 ? by : -1});
}

void UpdatePolicy::set_bound(int bound) {
  bound_ = bound;
  widest_ = std::max(widest_, bound);
}

std::int64_t UpdatePolicy::slowest_clock() const {
  std::int64_t slowest = -1;
  for (const Worker& w : workers_)
    if (w.place != Place::gone && (slowest < 0 || w.clock < slowest)) slowest = w.clock;
  return std::max<std::int64_t>(slowest, 0);
}

std::vector<int> UpdatePolicy::waiting() const {
  std::vector<int> all;
  for (std::size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].place == Place::waiting) all.push_back(static_cast<int>(i));
  return all;
}

std::vector<int> UpdatePolicy::missing() const {
  std::vector<int> all;
  for (std::size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].place == Place::gone) all.push_back(static_cast<int>(i));
  return all;
}

double UpdatePolicy::waited_so_far(int worker, double now) const {
  const Worker& w = workers_[static_cast<std::size_t>(worker)];
  return w.place == Place::waiting ? now - w.since : 0;
}

Status UpdatePolicy::check() const {
  if (counts_.computed != counts_.applied + counts_.dropped + counts_.lost + in_flight())
    return internal("{} gradients were computed, but {} applied, {} dropped, {} lost and {} are in flight", counts_.computed, counts_.applied,
                    counts_.dropped, counts_.lost, in_flight());
  if (uneven_reads_) return internal("{} gradients of synchronous updates were computed from other parameters than their round's", uneven_reads_);
  if (mode_.rule == Rule::ssp && furthest_lead_ > widest_) return internal("A worker was {} clocks ahead under {}", furthest_lead_, name_of(mode_));
  if (mode_.rule == Rule::ssp && !somebody_left_ && stalest_ > staleness_bound())
    return internal("A gradient was {} updates old under {}, which allows {}", stalest_, name_of(mode_), staleness_bound());
  return absl::OkStatus();
}

}  // namespace troupe::lab
