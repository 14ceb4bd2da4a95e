// Specs: what is right is read, what is wrong is refused with its line and what to do.
#include <troupe/actors/lab/experiments.hpp>
#include <troupe/actors/lab/spec.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* good = R"(model: softmax
data: digits
workers: 4
length: {updates: 10}
modes: [sync, async]
)";

std::string mistake(const std::string& text) {
  const auto spec = parse_spec(text, "my.yaml", "");
  return spec.ok() ? "" : text_of(spec.status());
}

TEST(Specs, AreRead) {
  const auto spec = parse_spec(std::string(good) + R"(seeds: [5, 6]
optimizer: {kind: adam, rate: 0.01}
times: {compute: {pareto: {scale: 2, shape: 1.5}}, network: 0.25}
faults:
  - {worker: 1, slow: 3}
  - {worker: 2, crash: 4, return: 8}
)",
                               "my.yaml", "");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name, "my");
  EXPECT_EQ(spec->modes.size(), 2u);
  EXPECT_EQ(spec->faults.at(1).back, 8);
  EXPECT_EQ(spec->compute.describe(), "Pareto, scale 2 s, shape 1.5");
  const auto cases = cases_of(*spec);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[1].id(), "w4_sync_seed6");
}

TEST(Specs, SchedulesOfModes) {
  const auto spec =
      parse_spec("length: {updates: 9}\nmodes:\n  - name: warm start\n    schedule: [{mode: async, updates: 5}, {mode: sync}]\n", "s.yaml", "");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->modes.at(0).phases.size(), 2u);
  EXPECT_EQ(cases_of(*spec).at(0).id(), "w4_warm-start_seed1");
}

TEST(Specs, BuiltInOnesAreSound) {
  EXPECT_GE(experiments().size(), 5u);
  for (const auto& e : experiments()) {
    const auto spec = parse_spec(std::string(e.text), std::string(e.name), "");
    EXPECT_TRUE(spec.ok()) << e.name << ": " << spec.status();
  }
}

struct Bad {
  std::string add, line, says;
};

class BadSpecs : public ::testing::TestWithParam<Bad> {};

TEST_P(BadSpecs, AreRefused) {
  const std::string text = mistake(std::string(good) + GetParam().add);
  EXPECT_THAT(text, StartsWith("my.yaml:" + GetParam().line + ": "));
  EXPECT_THAT(text, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(All, BadSpecs,
                         ::testing::Values(Bad{"worker: 3\n", "6", "unknown key 'worker' of the experiment; did you mean 'workers'?"},
                                           Bad{"workers: 5\n", "6", "comes twice"}, Bad{"seeds: []\n", "6", "no seeds"},
                                           Bad{"batch: 0\n", "6", "batch is 0; the least is 1"},
                                           Bad{"times: {network: -0.5}\n", "6", "network is -0.5; it must not be negative"},
                                           Bad{"times:\n  compute: {exponential: -1}\n", "7", "must not be negative"},
                                           Bad{"times: {compute: {gamma: 1}}\n", "6", "unknown key 'gamma'"},
                                           Bad{"times: {compute: {recorded: nowhere.txt}}\n", "6", "nowhere.txt"},
                                           Bad{"faults:\n  - {worker: 4, slow: 2}\n", "7", "there is no worker 4; of 4 the last is 3"},
                                           Bad{"faults:\n  - {worker: 1, crash: 5, return: 2}\n", "7", "returns after its crash"},
                                           Bad{"stage: virtuall\n", "6", "did you mean 'virtual'?"},
                                           Bad{"optimizer: sdg\n", "6", "did you mean 'sgd'?"}, Bad{"note: [\n", "7", ""}));

TEST(Specs, WithWrongValues) {
  EXPECT_THAT(mistake("workers: 4\nlength: {updates: 1}\nmodes: [sync, sync+4]\n"),
              HasSubstr("my.yaml:3: sync+4 of 4 workers leaves none to wait for; b is at most 3"));
  EXPECT_THAT(mistake("length: {updates: 1}\nmodes: [snyc]\n"), HasSubstr("my.yaml:2: unknown mode 'snyc'"));
  EXPECT_THAT(mistake("modes: [sync]\n"), HasSubstr("no end"));
  EXPECT_THAT(mistake("length: {updates: 1}\n"), HasSubstr("no modes"));
  EXPECT_THAT(mistake("data: {kind: csv, file: none.csv, label: y}\nlength: {updates: 1}\nmodes: [sync]\n"),
              HasSubstr("my.yaml:1: the file none.csv does not exist"));
  EXPECT_THAT(mistake("data: {kind: mnist, folder: /nowhere}\nlength: {updates: 1}\nmodes: [sync]\n"), HasSubstr("/nowhere does not exist"));
  EXPECT_THAT(mistake("model: embedding\nlength: {updates: 1}\nmodes: [sync]\n"), HasSubstr("my.yaml:1: the model embedding does not fit"));
  EXPECT_THAT(mistake("length: {updates: 1, stop_at_target: true}\nmodes: [sync]\n"), HasSubstr("without a target"));
}

}  // namespace
}  // namespace troupe::lab
