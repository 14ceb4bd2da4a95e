// TF_CONFIG: what TensorFlow's resolver reads, and a place for everything that is wrong.
#include <troupe/config/tf_config.hpp>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TfConfig parsed(std::string_view json) {
  auto config = parse_tf_config(json);
  EXPECT_TRUE(config.ok()) << json << ": " << config.status();
  return config.ok() ? *config : TfConfig{};
}

TEST(TfConfig, ReadsAWholeConfiguration) {
  TfConfig config = parsed(R"({
    "cluster": {"chief": ["c:1"], "ps": ["p:1", "[::1]:2"], "worker": {"3": "w:1"}, "anything": []},
    "task": {"type": "worker", "index": 3, "trial": "1"},
    "rpc_layer": "grpc", "environment": "cloud", "session_master": "grpc://m:1", "eval_session_master": "e",
    "model_dir": "/models", "service": {"a": 1}, "job": {}})");
  EXPECT_EQ(config.cluster.jobs, (decltype(config.cluster.jobs){
                                     {"anything", {}}, {"chief", {{0, "c:1"}}}, {"ps", {{0, "p:1"}, {1, "[::1]:2"}}}, {"worker", {{3, "w:1"}}}}));
  EXPECT_EQ(config.task_type, "worker");
  EXPECT_EQ(config.task_index, 3);
  EXPECT_EQ(config.rpc_layer, "grpc");
  EXPECT_EQ(config.environment, "cloud");
  EXPECT_EQ(config.session_master, "grpc://m:1");
  EXPECT_EQ(config.eval_session_master, "e");
  EXPECT_EQ(config.model_dir, "/models");
  EXPECT_EQ(config.service, R"({"a":1})");
  EXPECT_EQ(config.ignored_keys, std::vector<std::string>{"job"});
}

TEST(TfConfig, AllPartsMayBeAbsent) {
  TfConfig config = parsed("{}");
  EXPECT_TRUE(config.cluster.empty());
  EXPECT_FALSE(config.task_type || config.task_index || config.rpc_layer);
  EXPECT_FALSE(parsed(R"({"rpc_layer": null, "session_master": null})").rpc_layer);
  EXPECT_FALSE(parsed(R"({"task": {}})").task_type);
}

TEST(TfConfig, TakesAnIndexAsTensorFlowDoes) {
  for (const char* index : {"1", "\"1\"", "\" 1 \"", "1.0", "1e0"})
    EXPECT_EQ(parsed(fmt::format(R"({{"task": {{"type": "worker", "index": {}}}}})", index)).task_index, 1) << index;
}

TEST(TfConfig, NotesRepeatedKeysAndTakesTheLast) {
  TfConfig config = parsed(R"({"cluster": {"a": ["h:1"], "b": ["a:1"], "a": ["g:1"]}})");
  EXPECT_EQ(config.repeated_keys, std::vector<std::string>{"a"});
  EXPECT_EQ(config.cluster.jobs.at("a").at(0), "g:1");
  EXPECT_TRUE(parsed(R"({"task": {"a": {"x": 1}, "b": {"x": 2}}})").repeated_keys.empty()) << "equal keys of different objects";
}

TEST(TfConfig, SaysWhereItIsWrong) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "TF_CONFIG: line 1, column 1: this is no JSON"},
      {"{", "line 1, column 2: this is no JSON"},
      {"{\"cluster\":\n {\"ps\": [\"h:1\",]}}", "line 2, column 16: this is no JSON"},
      {"{\n\n  'task': 1}", "line 3, column 3: this is no JSON"},
      {"{'task': 1}", "JSON takes double quotes only"},
      {"{} x", "line 1, column 4: this is no JSON"},
      {"{\"a\": \"\xff\"}", "this is no JSON"},
      {"[]", "TF_CONFIG: top level: this is []; it must be an object like {\"cluster\""},
      {"null", "top level: this is null"},
      {"7", "top level: this is 7"},
      {R"({"cluster": []})", "cluster: this is []; it must be an object from job names"},
      {R"({"cluster": null})", "cluster: this is null"},
      {R"({"cluster": {"worker": "h:1"}})", "cluster.worker: this is \"h:1\"; it must be a list of addresses"},
      {R"({"cluster": {"worker": ["h:1", 2]}})", "cluster.worker[1]: this is 2; it must be an address"},
      {R"({"cluster": {"worker": ["h:1", "g"]}})", "cluster.worker[1]: job 'worker', task 1: 'g' has no port; write 'g:2222'"},
      {R"({"cluster": {"worker": {"x": "h:1"}}})", "cluster.worker: the key 'x' is no task index"},
      {R"({"cluster": {"worker": {"-1": "h:1"}}})", "cluster.worker[\"-1\"]: task index -1 of job 'worker' is negative"},
      {R"({"cluster": {"worker": {"0": 5}}})", "cluster.worker[\"0\"]: this is 5"},
      {R"({"cluster": {"worker": {"0": "h:1", "00": "h:2"}}})", "job 'worker' has task 0 twice"},
      {R"({"cluster": {"1-w": []}})", "cluster: '1-w' is no job name"},
      {R"({"cluster": {"": ["h:1"]}})", "cluster: '' is no job name"},
      {R"({"task": null})", "task: this is null; it must be an object like"},
      {R"({"task": []})", "task: this is []"},
      {R"({"task": {"type": 5}})", "task.type: this is 5; it must be a job name"},
      {R"({"task": {"type": ""}})", "task.type: this is \"\""},
      {R"({"task": {"index": -1}})", "task.index: this is -1; it must be a whole number from 0 on"},
      {R"({"task": {"index": 1.5}})", "task.index: this is 1.5"},
      {R"({"task": {"index": "x"}})", "task.index: this is \"x\""},
      {R"({"task": {"index": ""}})", "task.index: this is \"\""},
      {R"({"task": {"index": null}})", "task.index: this is null"},
      {R"({"task": {"index": true}})", "task.index: this is true"},
      {R"({"task": {"index": 1e300}})", "task.index: this is 1e+300"},
      {R"({"task": {"index": 4294967296}})", "task.index: this is 4294967296"},
      {R"({"task": {"index": -9999999999}})", "task.index: this is -9999999999"},
      {R"({"rpc_layer": 1})", "rpc_layer: this is 1; it must be a string"},
      {R"({"environment": []})", "environment: this is []"},
      {R"({"session_master": {}})", "session_master: this is {}"},
      {R"({"eval_session_master": 1})", "eval_session_master: this is 1"},
      {R"({"model_dir": 1})", "model_dir: this is 1"},
      {R"({"service": 1})", "service: this is 1; it must be an object"},
  };
  for (const auto& [json, why] : rows) {
    auto config = parse_tf_config(json);
    ASSERT_FALSE(config.ok()) << json;
    EXPECT_EQ(config.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(text_of(config.status()).find("TF_CONFIG: "), 0u) << config.status();
    EXPECT_NE(text_of(config.status()).find(why), std::string::npos) << json << "\n" << config.status() << "\nexpected: " << why;
  }
}

TEST(TfConfig, ShowsOnlyTheBeginningOfALongValue) {
  auto config = parse_tf_config(fmt::format(R"({{"task": "{}"}})", std::string(10000, 'x')));
  ASSERT_FALSE(config.ok());
  EXPECT_LT(text_of(config.status()).size(), 200u);
}

TEST(TfConfig, RefusesDeepNesting) {
  auto nested = [](size_t depth) { return R"({"service": {"a": )" + std::string(depth, '[') + std::string(depth, ']') + "}}"; };
  EXPECT_TRUE(parse_tf_config(nested(30)).ok());
  for (size_t depth : {100u, 100000u})
    EXPECT_EQ(text_of(parse_tf_config(nested(depth)).status()), "TF_CONFIG: top level: this is nested more than 64 levels deep; make it flatter");
  EXPECT_FALSE(parse_tf_config(std::string(100000, '[')).ok());
  EXPECT_FALSE(parse_tf_config(std::string(100000, '[') + std::string(100000, ']')).ok());
}

TEST(TfConfig, RendersWhatItReads) {
  Cluster cluster = parsed(R"({"cluster": {"ps": ["a:1", "b:1"], "worker": {"2": "c:1"}, "none": []}})").cluster;
  std::string text = render_tf_config(cluster, Task{"worker", 2});
  EXPECT_EQ(text, R"({"cluster":{"none":[],"ps":["a:1","b:1"],"worker":{"2":"c:1"}},"task":{"type":"worker","index":2}})");
  TfConfig again = parsed(text);
  EXPECT_EQ(again.cluster, cluster);
  EXPECT_EQ(again.task_type, "worker");
  EXPECT_EQ(again.task_index, 2);
  EXPECT_FALSE(parsed(render_tf_config(cluster, std::nullopt)).task_type);
}

}  // namespace
}  // namespace troupe
