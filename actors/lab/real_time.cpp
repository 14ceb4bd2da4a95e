// Nodes and workers of a run in real time.
#include <troupe/actors/lab/real_time.hpp>

#include <troupe/actors/lab/engine.hpp>
#include <troupe/actors/lab/job.hpp>
#include <troupe/actors/lab/node_runner.hpp>
#include <troupe/actors/local_cluster.hpp>
#include <troupe/actors/server.hpp>

#include <atomic>
#include <thread>

namespace troupe::lab {
namespace {

using Clock = std::chrono::steady_clock;

/// One node for each ps task and worker.
class Nodes {
 public:
  static StatusOr<std::unique_ptr<Nodes>> start(Stage stage, int ps, int workers) {
    auto nodes = std::make_unique<Nodes>();
    if (stage == Stage::processes) {
      TRY_ASSIGN(nodes->cluster_, LocalCluster::start({{"ps", ps}, {"worker", workers}}, {"--log_level=error"}, true));
      for (const auto& [index, address] : nodes->cluster_->cluster().jobs.at("ps")) nodes->ps.push_back(address);
      for (const auto& [index, address] : nodes->cluster_->cluster().jobs.at("worker")) nodes->workers.push_back(address);
      return nodes;
    }
    for (int i = 0; i < ps + workers; ++i) {
      NodeOptions options;
      options.port = 0;
      options.bind = "127.0.0.1";
      options.spin_us = 0;
      options.compute_threads = 1;
      TRY_ASSIGN(const auto identity, resolve(options, [](std::string_view) { return std::optional<std::string>(); }));
      TRY_ASSIGN(auto server, Server::start(identity, options));
      (i < ps ? nodes->ps : nodes->workers).push_back(fmt::format("localhost:{}", server->port()));
      nodes->servers_.push_back(std::move(server));
    }
    return nodes;
  }

  std::vector<std::string> ps, workers;

 private:
  std::unique_ptr<LocalCluster> cluster_;
  std::vector<std::unique_ptr<Server>> servers_;
};

/// Delivers gradients until it is told to stop, on a thread of its own.
class RealWorker {
 public:
  RealWorker(const Spec& spec, const Case& run, int number, Learner& learner, std::atomic<bool>& stopped)
      : spec_(spec), run_(run), number_(number), learner_(learner), stopped_(stopped) {
    for (const Fault& fault : spec.faults)
      if (fault.worker == number) {
        slowness_ *= fault.slow;
        if (fault.crash) faults_.push_back(fault);
      }
  }

  Status work(caf::actor_system& system, const Job& job) {
    caf::scoped_actor self(system);
    const auto begin = Clock::now();
    Deliver message{number_, nullptr, 0};
    for (std::int64_t step = 0;; ++step) {
      AssignmentPtr assignment;
      Status failed;
      self->request(job, caf::infinite, message)
          .receive([&](const AssignmentPtr& next) { assignment = next; },
                   [&](const caf::error& e) { failed = internal("{}", self->system().render(e)); });
      TRY(failed);
      if (assignment->stop) {
        stopped_ = true;
        return absl::OkStatus();
      }
      TRY_ASSIGN(auto made, compute(*assignment, step));
      message = {number_, made.first, made.second};
      const double now = std::chrono::duration<double>(Clock::now() - begin).count();
      if (faults_.empty() || now < *faults_.front().crash) continue;
      const Fault fault = faults_.front();
      faults_.erase(faults_.begin());
      self->send(job, Crashed{number_, made.first, !fault.back});
      if (!fault.back) return absl::OkStatus();
      sleep(*fault.back - now);
      message = {number_, nullptr, 0};
    }
  }

 private:
  StatusOr<std::pair<std::shared_ptr<const Gradient>, double>> compute(const Assignment& assignment, std::int64_t step) {
    const auto begin = Clock::now();
    TRY_ASSIGN(auto gradient, learner_.gradient(assignment.parameters, assignment.batch));
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    Random random({run_.seed, 0xc0de, static_cast<std::uint64_t>(number_), static_cast<std::uint64_t>(step)});
    const double more = spec_.compute.draw(random) * slowness_ + took * (slowness_ - 1), sending = spec_.network.draw(random);
    sleep(std::max(0.0, more) + sending);
    return std::pair(std::make_shared<const Gradient>(std::move(gradient)), took + std::max(0.0, more));
  }

  void sleep(double seconds) const {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::max(0.0, seconds)));
    while (!stopped_ && Clock::now() < until)
      std::this_thread::sleep_for(std::min<Clock::duration>(until - Clock::now(), std::chrono::milliseconds(50)));
  }

  const Spec& spec_;
  const Case& run_;
  int number_;
  Learner& learner_;
  std::atomic<bool>& stopped_;
  double slowness_ = 1;
  std::vector<Fault> faults_;
};

StatusOr<TrainingParts> parts_on(const Nodes& nodes, const Spec& spec, const Case& run, const Model& model, const Data& data, const RunHooks& hooks) {
  TrainingParts parts{spec, run, model, data, {}, nullptr, hooks};
  for (int s = 0; s < spec.ps; ++s) {
    const auto which = parameters_of_shard(model, s, spec.ps);
    TRY_ASSIGN(const auto graph, build_shard(model, which, spec.optimizer));
    TRY_ASSIGN(auto runner, NodeRunner::open(nodes.ps[static_cast<std::size_t>(s)], graph));
    TRY_ASSIGN(auto shard, Shard::open(model, which, std::move(runner)));
    parts.shards.push_back(std::move(shard));
  }
  TRY_ASSIGN(auto judge, Engine::open(model.graph));
  parts.judge = std::make_unique<Learner>(model, std::move(judge));
  return parts;
}

}  // namespace

StatusOr<RunRecord> run_in_real_time(const Spec& spec, const Case& run, const Data& data, const RunHooks& hooks) {
  TRY_ASSIGN(const Model model, build_model(spec.model, data, run.seed));
  TRY_ASSIGN(const auto nodes, Nodes::start(spec.stage, spec.ps, run.workers));
  TRY_ASSIGN(auto parts, parts_on(*nodes, spec, run, model, data, hooks));
  std::vector<std::unique_ptr<Learner>> learners;
  for (const auto& address : nodes->workers) {
    TRY_ASSIGN(auto runner, NodeRunner::open(address, model.graph));
    learners.push_back(std::make_unique<Learner>(model, std::move(runner)));
    // The first step compiles the graph; no worker shall begin late for it.
    Parameters first;
    for (auto& shard : parts.shards) TRY(shard->read(first));
    TRY(learners.back()->gradient(first, batch_of(data.train, spec.batch, run.seed, 0, 0)).status());
  }
  caf::actor_system_config config;
  caf::actor_system system{config};
  const Job job = spawn_job(system, std::move(parts));
  std::atomic<bool> stopped = false;
  std::vector<Status> ends(learners.size());
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < learners.size(); ++w)
    threads.emplace_back([&, w] {
      ends[w] = RealWorker(spec, run, static_cast<int>(w), *learners[w], stopped).work(system, job);
      if (!ends[w].ok()) caf::anon_send(job, WorkerFailed{ends[w]});
    });
  for (auto& thread : threads) thread.join();
  RecordPtr record;
  caf::scoped_actor self(system);
  self->request(job, caf::infinite, Conclude{}).receive([&](const RecordPtr& r) { record = r; }, [](const caf::error&) {});
  caf::anon_send_exit(job, caf::exit_reason::user_shutdown);
  if (!record) return internal("The job ended without a record");
  return *record;
}

}  // namespace troupe::lab
