// The doctor's account: findings with place and remedy, peers, and the text a person reads.
#include <troupe/config/explain.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe {
namespace {

using testing::HasSubstr;
using testing::Not;

Account account_of(const std::string& json, const Probe& probe = nullptr, const NodeOptions& options = {}) {
  return explain(
      options, [&](std::string_view name) { return name == "TF_CONFIG" ? std::optional(json) : std::nullopt; }, probe);
}

std::string config(const std::string& cluster, const std::string& type = "worker", int index = 0) {
  return fmt::format(R"({{"cluster": {}, "task": {{"type": "{}", "index": {}}}}})", cluster, type, index);
}

struct Remark {
  const char* cluster;
  Severity severity;
  const char* where;
  const char* what;
};

TEST(Explain, RemarksOnClusters) {
  const Remark rows[] = {
      {R"({"chief": ["a:1"], "worker": ["b:1", "b:1"]})", Severity::error, "job 'worker', task 1", "b:1 is also the address of job 'worker', task 0"},
      {R"({"chief": ["b:1"], "worker": ["b:1"]})", Severity::error, "job 'worker', task 0", "also the address of job 'chief', task 0"},
      {R"({"chief": ["0.0.0.0:1"], "worker": ["b:1"]})", Severity::error, "job 'chief', task 0", "names every interface"},
      {R"({"chief": ["[::]:1"], "worker": ["b:1"]})", Severity::error, "job 'chief', task 0", "names every interface"},
      {R"({"chief": ["a:0"], "worker": ["b:1"]})", Severity::error, "job 'chief', task 0", "a:0 has port 0"},
      {R"({"chief": ["a:1"], "worker": ["w.example.com:1"]})", Severity::warning, "job 'worker', task 0", "a name for examples"},
      {R"({"chief": ["a.invalid:1"], "worker": ["w:1"]})", Severity::warning, "job 'chief', task 0", "a name for examples"},
      {R"({"chief": ["a_b:1"], "worker": ["w:1"]})", Severity::note, "job 'chief', task 0", "'a_b' has a '_'"},
      {R"({"chief": ["localhost:1"], "worker": ["w:1"]})", Severity::warning, "cluster", "job 'chief', task 0 is on this machine's loopback"},
      {R"({"chief": ["a:1"], "master": ["b:1"], "worker": ["w:1"]})", Severity::error, "cluster", "both 'chief' and 'master'"},
      {R"({"chief": ["a:1", "b:1"], "worker": ["w:1"]})", Severity::error, "job 'chief'", "it has 2 tasks"},
      {R"({"master": [], "worker": ["w:1"]})", Severity::error, "job 'master'", "it has 0 tasks"},
      {R"({"worker": ["w:1"]})", Severity::note, "cluster", "there is no 'chief'"},
      {R"({"chief": ["a:1"], "ps": [], "worker": ["w:1"]})", Severity::note, "job 'ps'", "it has no tasks"},
      {R"({"chief": ["a:1"], "worker": {"0": "w:1", "3": "w:2"}})", Severity::note, "job 'worker'", "2 of its first 4 tasks are left out"},
  };
  for (const Remark& row : rows) {
    Account account = account_of(config(row.cluster));
    ASSERT_TRUE(account.node) << render(account);
    bool found = std::any_of(account.findings.begin(), account.findings.end(), [&](const Finding& finding) {
      return finding.severity == row.severity && finding.where == row.where && finding.what.find(row.what) != std::string::npos;
    });
    EXPECT_TRUE(found) << row.cluster << "\nexpected: " << row.where << ": " << row.what << "\n" << render(account);
    EXPECT_EQ(account.has_errors(), row.severity == Severity::error) << row.cluster << "\n" << render(account);
  }
}

TEST(Explain, APsAloneIsNoted) {
  EXPECT_THAT(render(account_of(config(R"({"ps": ["localhost:1"]})", "ps"))), HasSubstr("no 'chief', 'master' or 'worker'"));
}

TEST(Explain, AGoodClusterHasNothingWrong) {
  std::string cluster = R"({"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]})";
  EXPECT_EQ(render(account_of(config(cluster))),
            "This task is /job:worker/replica:0/task:0 (from TF_CONFIG).\n"
            "It listens on 127.0.0.1 and ::1, port 2; clients and peers reach it at grpc://localhost:2.\n"
            "Its peers are:\n"
            "  /job:chief/replica:0/task:0  localhost:1\n"
            "  /job:ps/replica:0/task:0  localhost:3\n"
            "Nothing is wrong.\n");
}

TEST(Explain, OwnPortZeroIsNoMistake) {
  Account account = account_of(config(R"({"chief": ["localhost:1"], "worker": ["localhost:0"]})"));
  EXPECT_FALSE(account.has_errors()) << render(account);
  EXPECT_THAT(render(account), HasSubstr("a free port"));
}

TEST(Explain, ProbesPeersAndNotItself) {
  std::vector<std::string> asked;
  Probe probe = [&](const std::string& address) {
    asked.push_back(address);
    return address == "localhost:1" ? Status() : unavailable("connection refused");
  };
  Account account = account_of(config(R"({"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]})"), probe);
  EXPECT_EQ(asked, (std::vector<std::string>{"localhost:1", "localhost:3"}));
  std::string text = render(account);
  EXPECT_THAT(text, HasSubstr("/job:chief/replica:0/task:0  localhost:1  answers\n"));
  EXPECT_THAT(text, HasSubstr("/job:ps/replica:0/task:0  localhost:3  does not answer\n"));
  EXPECT_THAT(text, HasSubstr("warning: /job:ps/replica:0/task:0 at localhost:3: does not answer: connection refused\n    -> start it"));
  EXPECT_FALSE(account.has_errors());
}

struct Broken {
  std::string json;
  const char* where;
  const char* what;
  const char* remedy;
};

TEST(Explain, SplitsErrorsIntoPlaceReasonAndRemedy) {
  const Broken rows[] = {
      {"{'a': 1}", "TF_CONFIG, line 1, column 2", "this is no JSON", "JSON takes double quotes only"},
      {R"({"cluster": {"ps": ["a"]}})", "TF_CONFIG, cluster.ps[0]", "'a' has no port", "write 'a:2222'"},
      {config(R"({"worker": ["a:1"]})", "worker", 4), "TF_CONFIG, task", "Task 4 was not defined in job \"worker\"", "the job has task 0"},
      {config(R"({"ps": ["a:1"], "worker": ["b:1"]})", "chief"), "TF_CONFIG, task", "Job \"chief\" was not defined in cluster",
       "the cluster has ps (task 0), worker (task 0)"},
      {R"({"rpc_layer": "mpi"})", "TF_CONFIG, rpc_layer", "'mpi' is not served", "Troupe speaks grpc only"},
  };
  for (const Broken& row : rows) {
    Account account = account_of(row.json);
    EXPECT_FALSE(account.node);
    ASSERT_EQ(account.findings.size(), 1u) << render(account);
    EXPECT_EQ(account.findings[0].where, row.where);
    EXPECT_THAT(account.findings[0].what, HasSubstr(row.what));
    EXPECT_THAT(account.findings[0].remedy, HasSubstr(row.remedy));
    EXPECT_TRUE(account.has_errors());
    EXPECT_THAT(render(account), HasSubstr("Who this task is cannot be told from TF_CONFIG.\nerror: TF_CONFIG, "));
  }
}

TEST(Explain, TellsSourcesAndFlags) {
  std::string good = config(R"({"chief": ["localhost:1"], "worker": ["localhost:2"]})");
  EXPECT_EQ(account_of("").source, "defaults (no TF_CONFIG, no flags)");
  EXPECT_EQ(account_of(good).source, "TF_CONFIG");
  EXPECT_EQ(account_of(good, nullptr, {.job_name = "chief"}).source, "flags and TF_CONFIG");
  EXPECT_EQ(account_of("", nullptr, {.cluster_spec = "w|localhost:1", .job_name = "w"}).source, "flags");
  Account loud = account_of(good, nullptr, {.log_level = "loud"});
  EXPECT_TRUE(loud.has_errors());
  EXPECT_EQ(loud.findings[0].where, "--log_level");
}

TEST(Explain, NotesMisspelledKeysAndExposure) {
  std::string text = render(account_of(R"({"clusters": {}, "cluster": {"chief": ["h1:1"]}, "task": {"type": "chief", "index": 0}})"));
  EXPECT_THAT(text, HasSubstr("note: TF_CONFIG, clusters: this key is not read"));
  EXPECT_THAT(text, HasSubstr("warning: this task: listening on all interfaces, port 1: whoever reaches it can run code here"));
  EXPECT_THAT(text, HasSubstr("It has no peers.\n"));
  EXPECT_THAT(text, Not(HasSubstr("error:")));
  EXPECT_LT(text.find("warning:"), text.find("note:")) << "the worst comes first";
}

}  // namespace
}  // namespace troupe
