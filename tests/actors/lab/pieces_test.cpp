// The smaller pieces: draws, data, statistics, records, plots.
#include <troupe/actors/lab/data.hpp>
#include <troupe/actors/lab/results.hpp>
#include <troupe/actors/lab/statistics.hpp>
#include <troupe/actors/lab/svg.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace troupe::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

double mean_draw(const Distribution& d, int n = 20000) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    Random random({7, static_cast<std::uint64_t>(i)});
    sum += d.draw(random);
  }
  return sum / n;
}

TEST(Distributions, HaveTheirMeans) {
  EXPECT_EQ(mean_draw(Distribution::constant(2.5), 10), 2.5);
  EXPECT_NEAR(mean_draw(Distribution::exponential(3)), 3, 0.1);
  EXPECT_NEAR(mean_draw(Distribution::pareto(1, 3)), 1.5, 0.05);
  EXPECT_NEAR(mean_draw(Distribution::recorded({1, 2, 6})), 3, 0.1);
}

TEST(Distributions, OfEqualNamesAreEqual) {
  Random a({1, 2, 3}), b({1, 2, 3}), c({1, 3, 2});
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
}

TEST(RecordedTimes, AreReadWithLines) {
  const std::string file = ::testing::TempDir() + "/times.txt";
  ASSERT_TRUE(write_file(file, "# seconds\n0.5\n\n1.5 # slow\n").ok());
  EXPECT_THAT(read_times(file).value(), ElementsAre(0.5, 1.5));
  ASSERT_TRUE(write_file(file, "0.5\n-1\n").ok());
  EXPECT_THAT(text_of(read_times(file).status()), HasSubstr("times.txt:2: '-1' is no time"));
}

TEST(Data, DigitsAreTheSameEachTimeAndOfAllKinds) {
  DataSpec spec;
  spec.examples = 200;
  spec.tests = 20;
  const Data a = drawn_digits(spec), b = drawn_digits(spec);
  EXPECT_TRUE(std::ranges::equal(a.train.inputs.values<float>(), b.train.inputs.values<float>()));
  std::set<std::int64_t> kinds;
  for (auto label : a.train.outputs.values<std::int64_t>()) kinds.insert(label);
  EXPECT_EQ(kinds.size(), 10u);
}

TEST(Data, BatchesDependOnTheirNumbersOnly) {
  DataSpec spec;
  spec.kind = "regression";
  spec.examples = 50;
  const Data data = made_regression(spec);
  auto values = [&](std::uint64_t seed, int worker, std::int64_t number) {
    const Examples batch = batch_of(data.train, 8, seed, worker, number);
    return std::vector<float>(batch.outputs.values<float>().begin(), batch.outputs.values<float>().end());
  };
  EXPECT_EQ(values(1, 2, 3), values(1, 2, 3));
  EXPECT_NE(values(1, 2, 3), values(1, 2, 4));
  EXPECT_NE(values(1, 2, 3), values(1, 3, 3));
}

TEST(Data, TablesOfNumbersAndOfClasses) {
  DataSpec spec;
  spec.kind = "csv";
  spec.file = ::testing::TempDir() + "/table.csv";
  spec.label = "kind";
  std::string text = "a,kind,b\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("{},{},{}\n", i, i % 2 ? "odd" : "\"even, they say\"", i * i);
  ASSERT_TRUE(write_file(spec.file, text).ok());
  const auto data = read_csv(spec);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->classes, 2);
  EXPECT_EQ(data->train.size(), 16);
  EXPECT_EQ(data->train.width(), 2);
  spec.label = "b";
  EXPECT_THAT(text_of(read_csv(spec).status()), HasSubstr("table.csv:2: 'even, they say' in column kind is not a number"));
  spec.label = "c";
  EXPECT_THAT(text_of(read_csv(spec).status()), HasSubstr("no column 'c'; there are a, kind, b"));
}

TEST(Statistics, ConfidenceOfMeans) {
  const Estimate e = estimate({1, 2, 3});
  EXPECT_DOUBLE_EQ(e.mean, 2);
  EXPECT_NEAR(e.margin, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(estimate({5}).margin, 0);
  EXPECT_EQ(estimate({}).text(2), "-");
}

RunRecord some_record() {
  RunRecord r;
  r.id = "w2_sync_seed1";
  r.mode = "sync";
  r.stage = "virtual";
  r.workers = 2;
  r.seed = 1;
  r.ended = "updates";
  r.seconds = 10;
  r.counts = {9, 6, 2, 0, 3};
  r.in_flight = 1;
  r.curve = {{0, 0, 0, 2.3, 0.1}, {10, 3, 6, 1.0, 0.8}};
  r.target_seconds = 7.5;
  r.each_worker.resize(2);
  r.each_worker[0] = {4, 1, 5, 5, 3, 1, 0, {{0, 2}, {3, 1}}, {{1, 5.0}}};
  r.each_worker[1].staleness = {{1, 3}};
  r.staleness["w"] = {{0, 2}, {1, 3}, {3, 1}};
  r.changes = {{0, 0, "sync"}};
  r.parameters = "abc";
  return r;
}

TEST(Records, SurviveTheirFiles) {
  const RunRecord r = some_record();
  const auto back = record_from_json(to_json(r));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(to_json(*back), to_json(r));
  EXPECT_FALSE(record_from_json("{}").ok());
  EXPECT_DOUBLE_EQ(r.mean_staleness(), 1);
  EXPECT_EQ(r.stalest(), 3);
  EXPECT_DOUBLE_EQ(r.utilisation(), 0.2);
}

TEST(Reports, HaveAllPartsAndNeedNothingElse) {
  const auto spec = parse_spec("title: A <b>\nworkers: 2\ntarget: 0.7\nlength: {updates: 3}\nmodes: [sync]\n", "s.yaml", "");
  ASSERT_TRUE(spec.ok()) << spec.status();
  const std::string page = report_html(*spec, {some_record()});
  for (const char* part :
       {"A &lt;b&gt;", "accuracy against time", "accuracy against updates", "Time to accuracy 0.7", "Throughput", "Gradients dropped",
        "By worker: sync", "By variable: sync", "Who waited for whom: sync", "How workers spent their time", "w2_sync_seed1"})
    EXPECT_THAT(page, HasSubstr(part));
  for (const char* foreign : {"<script", "http:", "https:", "nan", "inf\""}) EXPECT_EQ(page.find(foreign), std::string::npos) << foreign;
}

TEST(Plots, RoundTicks) {
  EXPECT_THAT(ticks(0, 1), ElementsAre(0, 0.2, 0.4, testing::DoubleNear(0.6, 1e-12), 0.8, 1));
  EXPECT_THAT(ticks(0, 37), ElementsAre(0, 10, 20, 30));
  EXPECT_EQ(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
}

}  // namespace
}  // namespace troupe::lab
