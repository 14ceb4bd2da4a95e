// Runs in virtual time: models learn, runs repeat bit for bit, and the modes differ as the literature says they do.
#include <troupe/actors/lab/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace troupe::lab {
namespace {

/// Runs every case of a spec and checks what holds of all.
std::map<std::string, RunRecord> run_all(const std::string& text) {
  std::map<std::string, RunRecord> records;
  const auto spec = parse_spec(text, "test.yaml", "");
  EXPECT_TRUE(spec.ok()) << spec.status();
  if (!spec.ok()) return records;
  const auto data = load_data(spec->data);
  EXPECT_TRUE(data.ok()) << data.status();
  for (const Case& each : cases_of(*spec)) {
    const auto record = simulate(*spec, each, *data);
    EXPECT_TRUE(record.ok()) << each.id() << ": " << record.status();
    if (!record.ok()) continue;
    const Counts& c = record->counts;
    EXPECT_EQ(c.computed, c.applied + c.dropped + c.lost + record->in_flight) << each.id();
    std::int64_t seen = 0;
    for (const auto& worker : record->each_worker)
      for (const auto& [staleness, count] : worker.staleness) seen += count;
    EXPECT_EQ(seen, c.applied) << each.id();
    records[each.mode.name + (spec->workers.size() > 1 ? fmt::format("/{}", each.workers) : "")] = *record;
  }
  return records;
}

constexpr const char* digits = "data: {kind: digits, examples: 600, tests: 200}\nseeds: [1]\n";

TEST(VirtualTime, ModelsLearn) {
  const std::string common = "seeds: [1]\nworkers: 2\nmodes: [sync]\nbatch: 32\n";
  const auto score = [&](const std::string& more) { return run_all(common + more).at("sync").final_score(); };
  EXPECT_GT(score("model: softmax\ndata: {kind: digits, examples: 600, tests: 200}\nlength: {updates: 60}\noptimizer: {kind: sgd, rate: 0.2}\n"),
            0.75);
  EXPECT_GT(score("model: {kind: mlp, hidden: [32]}\ndata: {kind: digits, examples: 600, tests: 200}\nlength: {updates: 60}\noptimizer: {kind: adam, "
                  "rate: 0.01}\n"),
            0.75);
  EXPECT_GT(score("model: cnn\ndata: {kind: digits, examples: 300, tests: 100}\nlength: {updates: 40}\noptimizer: {kind: adam, rate: 0.01}\n"), 0.6);
  EXPECT_GT(
      score("model: linear\ndata: {kind: regression, examples: 400, tests: 100}\nlength: {updates: 60}\noptimizer: {kind: momentum, rate: 0.05}\n"),
      0.8);
  EXPECT_GT(score("model: embedding\ndata: {kind: words, vocabulary: 60, examples: 800, tests: 200}\nlength: {updates: 150}\noptimizer: {kind: "
                  "adagrad, rate: 0.5}\n"),
            0.6);
}

TEST(VirtualTime, EqualSeedsGiveEqualBytes) {
  const std::string text =
      std::string(digits) +
      "workers: 12\nps: 2\nlength: {seconds: 8}\ntimes: {compute: {pareto: {scale: 1, shape: 1.5}}, network: {exponential: 0.1}}\n"
      "faults: [{worker: 1, slow: 2}, {worker: 2, crash: 2, return: 5}]\nmodes: [async, sync+2, ssp(2), auto]\n";
  const auto first = run_all(text), second = run_all(text);
  ASSERT_EQ(first.size(), 4u);
  for (const auto& [mode, record] : first) EXPECT_EQ(to_json(record), to_json(second.at(mode))) << mode;
  EXPECT_NE(first.at("async").parameters, first.at("ssp(2)").parameters);
}

TEST(VirtualTime, BackupsShortenStepsAndBeatAsync) {
  const auto r = run_all(std::string(digits) +
                         "model: {kind: mlp, hidden: [32]}\nworkers: 50\nbatch: 2\noptimizer: {kind: sgd, rate: 0.2}\nlength: {seconds: "
                         "150}\nevaluate: {seconds: 10}\ntarget: "
                         "0.7\n"
                         "times: {compute: {pareto: {scale: 1, shape: 2}}, network: 0.05}\nmodes: [sync, sync+2, sync+6, sync+16, async]\n");
  EXPECT_GT(r.at("sync").seconds_per_update(), 1.3 * r.at("sync+2").seconds_per_update());
  EXPECT_GT(r.at("sync+2").seconds_per_update(), r.at("sync+6").seconds_per_update());
  EXPECT_GT(r.at("sync+6").seconds_per_update(), r.at("sync+16").seconds_per_update());
  // What the first backups save is more than what as many later ones do.
  EXPECT_GT(r.at("sync").seconds_per_update() - r.at("sync+6").seconds_per_update(),
            2 * (r.at("sync+6").seconds_per_update() - r.at("sync+16").seconds_per_update()));
  EXPECT_EQ(r.at("sync").counts.dropped, 0);
  EXPECT_GT(r.at("sync+16").counts.dropped, r.at("sync+2").counts.dropped);
  ASSERT_TRUE(r.at("sync+6").target_seconds);
  EXPECT_LT(*r.at("sync+6").target_seconds, r.at("sync").target_seconds.value_or(INFINITY));
  EXPECT_LT(*r.at("sync+6").target_seconds, r.at("async").target_seconds.value_or(INFINITY));
}

TEST(VirtualTime, StalenessHurtsAndSmallerRatesHelp) {
  const auto r =
      run_all(std::string(digits) +
              "model: {kind: mlp, hidden: [32]}\nworkers: [1, 48]\nbatch: 16\noptimizer: {kind: sgd, rate: 0.5}\nlength: {gradients: 600}\n"
              "times: {compute: {exponential: 1}}\nmodes: [async, async(aware)]\n");
  EXPECT_EQ(r.at("async/1").mean_staleness(), 0);
  EXPECT_NEAR(r.at("async/48").mean_staleness(), 47, 8);
  const double alone = r.at("async/1").final_score(), stale = r.at("async/48").final_score(), aware = r.at("async(aware)/48").final_score();
  EXPECT_GT(alone, stale + 0.05);
  EXPECT_GT(aware, stale + 0.02);
  EXPECT_GE(alone, aware);
}

TEST(VirtualTime, BoundedStalenessLiesBetween) {
  const auto r =
      run_all(std::string(digits) +
              "workers: 8\nbatch: 16\nlength: {gradients: 800}\ntimes: {compute: {exponential: 1}, network: 0.02}\nfaults: [{worker: 0, slow: 3}]\n"
              "modes: [sync, ssp(1), ssp(4), async]\n");
  EXPECT_LT(r.at("sync").gradients_per_second(), r.at("ssp(1)").gradients_per_second());
  EXPECT_LT(r.at("ssp(1)").gradients_per_second(), r.at("ssp(4)").gradients_per_second());
  EXPECT_LT(r.at("ssp(4)").gradients_per_second(), r.at("async").gradients_per_second());
  EXPECT_GT(r.at("sync").waiting_share(), r.at("ssp(4)").waiting_share());
  EXPECT_EQ(r.at("sync").stalest(), 0);
  EXPECT_LE(r.at("ssp(1)").stalest(), 7 * 3);
  EXPECT_GT(r.at("sync").each_worker[1].waited_for.at(0), r.at("sync").each_worker[1].waited_for.at(2));
}

TEST(VirtualTime, OneSlowWorkerHoldsUpSyncOnly) {
  const auto r = run_all(std::string(digits) +
                         "workers: 4\nlength: {seconds: 100.5}\ntimes: {compute: 1}\nfaults: [{worker: 3, slow: 5}]\nmodes: [sync, sync+1, async]\n");
  EXPECT_NEAR(r.at("sync").seconds_per_update(), 5, 0.1);
  EXPECT_NEAR(r.at("sync+1").seconds_per_update(), 1, 0.1);
  EXPECT_NEAR(r.at("async").gradients_per_second(), 3.2, 0.1);
}

TEST(VirtualTime, CrashesAndReturns) {
  const auto r = run_all(std::string(digits) +
                         "workers: 3\nlength: {seconds: 40.5}\ntimes: {compute: 1}\nfaults: [{worker: 1, crash: 10.5, return: 30}]\nmodes: [sync, "
                         "sync+1, async, ssp(2)]\n");
  EXPECT_EQ(r.at("sync").counts.updates, 20);  // ten before, ten after
  EXPECT_EQ(r.at("sync+1").counts.updates, 40);
  EXPECT_EQ(r.at("sync").counts.lost, 1);
  EXPECT_GT(r.at("async").counts.updates, 90);
  EXPECT_GT(r.at("ssp(2)").counts.updates, 90);
}

TEST(VirtualTime, AStallNamesWhoIsMissing) {
  const auto r =
      run_all(std::string(digits) + "workers: 3\nlength: {updates: 40}\ntimes: {compute: 1}\nfaults: [{worker: 1, crash: 5.5}]\nmodes: [sync]\n");
  EXPECT_EQ(r.at("sync").ended, "stalled: 2 wait for worker 1");
}

TEST(VirtualTime, ModesChangeByScheduleAHundredTimes) {
  std::string schedule;
  const char* modes[] = {"async", "sync", "ssp(1)", "sync+2", "async(aware)", "auto", "auto(ssp)"};
  for (int i = 0; i < 100; ++i) schedule += fmt::format("      - {{mode: {}, updates: {}}}\n", modes[(i * 5 + i / 5) % 7], 1 + i * 5 % 4);
  const auto r = run_all(std::string(digits) +
                         "workers: 6\nlength: {updates: 400}\ntimes: {compute: {exponential: 1}}\nmodes:\n  - name: restless\n    schedule:\n" +
                         schedule + "      - {mode: sync}\n");
  const RunRecord& record = r.at("restless");
  EXPECT_GT(record.changes.size(), 90u);
  EXPECT_LT(record.curve.back().loss, 0.6 * record.curve.front().loss);
}

TEST(VirtualTime, AThousandWorkers) {
  const auto r = run_all(
      "data: {kind: regression, examples: 300, tests: 50}\nmodel: linear\nseeds: [1]\nworkers: 1000\nbatch: 4\nlength: {gradients: 4000}\n"
      "optimizer: {kind: sgd, rate: 0.002}\ntimes: {compute: {exponential: 1}}\nmodes: [async, sync+50, ssp(3)]\n");
  EXPECT_NEAR(r.at("async").mean_staleness(), 900, 150);
  EXPECT_EQ(r.at("sync+50").counts.applied % 950, 0);
}

}  // namespace
}  // namespace troupe::lab
