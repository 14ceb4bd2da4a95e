// Events of a run in virtual time.
#include <troupe/actors/lab/simulation.hpp>

#include <troupe/actors/lab/engine.hpp>

#include <cmath>

namespace troupe::lab {

Simulation::Simulation(const Spec& spec, const Case& run, Training& training, Learner& learner)
    : spec_(spec), run_(run), training_(training), learner_(learner), workers_(static_cast<std::size_t>(run.workers)) {
  for (const Fault& fault : spec.faults) {
    at(fault.worker).slowness *= fault.slow;
    if (fault.crash) plan(*fault.crash, Kind::crash, fault.worker);
    if (fault.back) plan(*fault.back, Kind::back, fault.worker);
  }
}

void Simulation::plan(double time, Kind kind, int worker, std::int64_t number) {
  events_.push({time, planned_++, kind, worker, number, at(worker).stint});
}

/// What one worker draws does not depend on what happens to the others, so that modes are compared under equal luck.
Random Simulation::draw(int worker, std::uint64_t what) {
  return Random({run_.seed, what, static_cast<std::uint64_t>(worker), static_cast<std::uint64_t>(at(worker).draws)});
}

void Simulation::start(const Training::Starts& starts) {
  for (const Start& s : starts) {
    Worker& worker = at(s.worker);
    ++worker.draws;
    Random network = draw(s.worker, 0x4ead);
    worker.unread = training_.shards();
    worker.read_since = now_;
    for (int shard = 0; shard < training_.shards(); ++shard) plan(now_ + spec_.network.draw(network), Kind::read, s.worker, shard);
  }
}

Status Simulation::compute(int worker) {
  Worker& w = at(worker);
  TRY_ASSIGN(auto gradient, learner_.gradient(training_.parameters_of(worker), training_.next_batch(worker)));
  TRY_ASSIGN(w.computing, training_.computed(worker, std::move(gradient)));
  Random computing = draw(worker, 0xc0de), network = draw(worker, 0x5e4d);
  const double takes = spec_.compute.draw(computing) * w.slowness, travels = spec_.network.draw(network);
  w.sent_at = now_ + takes;
  training_.note_sending(worker, now_ - w.read_since + travels);
  training_.note_computing(worker, takes);
  plan(w.sent_at + travels, Kind::arrive, worker, w.computing);
  return absl::OkStatus();
}

Status Simulation::crash(int worker) {
  Worker& w = at(worker);
  if (!w.here) return absl::OkStatus();
  w.here = false;
  ++w.stint;
  if (w.computing >= 0 && now_ < w.sent_at) {
    training_.note_computing(worker, now_ - w.sent_at);
    TRY(training_.lose(w.computing));
  }
  w.computing = -1;
  TRY_ASSIGN(const auto starts, training_.leave(worker, now_));
  start(starts);
  return absl::OkStatus();
}

Status Simulation::handle(const Event& event) {
  Worker& w = at(event.worker);
  switch (event.kind) {
    case Kind::read:
      if (event.stint != w.stint) return absl::OkStatus();
      TRY(training_.read(event.worker, static_cast<int>(event.number)));
      return --w.unread == 0 ? compute(event.worker) : absl::OkStatus();
    case Kind::arrive: {
      // Of an earlier life arrives only what had been sent.
      if (event.stint != w.stint && !training_.in_flight(event.number)) return absl::OkStatus();
      if (event.stint == w.stint) w.computing = -1;
      TRY_ASSIGN(const auto starts, training_.arrive(event.number, now_));
      start(starts);
      return absl::OkStatus();
    }
    case Kind::crash: return crash(event.worker);
    case Kind::back: {
      if (w.here) return absl::OkStatus();
      w.here = true;
      TRY_ASSIGN(const auto starts, training_.join(event.worker, now_));
      start(starts);
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

StatusOr<RunRecord> Simulation::run() {
  TRY(training_.pass_time(0).status());
  for (int worker = 0; worker < run_.workers; ++worker) {
    at(worker).here = true;
    TRY_ASSIGN(const auto starts, training_.join(worker, 0));
    start(starts);
  }
  while (!training_.over()) {
    const double next = events_.empty() ? std::numeric_limits<double>::infinity() : events_.top().time;
    if (const double due = training_.next_time(); due <= next && std::isfinite(due)) {
      now_ = due;
      TRY_ASSIGN(const auto starts, training_.pass_time(now_));
      start(starts);
      continue;
    }
    if (events_.empty()) {
      training_.end_stalled();
      break;
    }
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    TRY(handle(event));
  }
  for (int worker = 0; worker < run_.workers; ++worker)
    if (at(worker).computing >= 0 && at(worker).sent_at > now_) training_.note_computing(worker, now_ - at(worker).sent_at);
  return training_.finish(now_);
}

StatusOr<RunRecord> simulate(const Spec& spec, const Case& run, const Data& data, const RunHooks& hooks) {
  TRY_ASSIGN(const Model model, build_model(spec.model, data, run.seed));
  TrainingParts parts{spec, run, model, data, {}, nullptr, hooks};
  for (int s = 0; s < spec.ps; ++s) {
    const auto which = parameters_of_shard(model, s, spec.ps);
    TRY_ASSIGN(auto graph, build_shard(model, which, spec.optimizer));
    TRY_ASSIGN(auto engine, Engine::open(std::move(graph)));
    TRY_ASSIGN(auto shard, Shard::open(model, which, std::move(engine)));
    parts.shards.push_back(std::move(shard));
  }
  TRY_ASSIGN(auto engine, Engine::open(model.graph));
  TRY_ASSIGN(auto judge, Engine::open(model.graph));
  parts.judge = std::make_unique<Learner>(model, std::move(judge));
  Learner learner(model, std::move(engine));
  Training training(std::move(parts));
  return Simulation(spec, run, training, learner).run();
}

}  // namespace troupe::lab
