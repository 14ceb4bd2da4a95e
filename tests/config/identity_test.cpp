// Who a node is: flags over environment, where it listens, and every way to get it wrong.
#include <troupe/config/identity.hpp>

#include <gtest/gtest.h>

namespace troupe {
namespace {

Environment tf_config(std::optional<std::string> text) {
  return [=](std::string_view asked) { return asked == "TF_CONFIG" ? text : std::nullopt; };
}

const Environment nothing = tf_config(std::nullopt);
const std::string two_workers = R"("cluster": {"ps": ["ps0:2222"], "worker": ["localhost:1", "w1:2"]})";

NodeIdentity resolved(const NodeOptions& options, const Environment& environment) {
  auto node = resolve(options, environment);
  EXPECT_TRUE(node.ok()) << node.status();
  return node.ok() ? *node : NodeIdentity{};
}

NodeIdentity from(const std::string& json) { return resolved({}, tf_config(json)); }

const std::vector<std::string> loopback{"127.0.0.1", "::1"};

TEST(Identity, WithoutAnythingIsLocal) {
  for (const auto& environment : {nothing, tf_config(""), tf_config("  \n"), tf_config("{}")}) {
    NodeIdentity node = resolved({}, environment);
    EXPECT_EQ(node.task, (Task{"local", 0}));
    EXPECT_EQ(node.own_address, "localhost:2222");
    EXPECT_EQ(node.port, 2222);
    EXPECT_EQ(node.listen_hosts, loopback);
    EXPECT_FALSE(node.all_interfaces);
    EXPECT_TRUE(node.warnings.empty());
    EXPECT_EQ(*node.cluster.find("local", 0), "localhost:2222");
  }
}

TEST(Identity, FromTfConfigOnLoopback) {
  NodeIdentity node = from("{" + two_workers + R"(, "task": {"type": "worker", "index": "0"}})");
  EXPECT_EQ(node.task, (Task{"worker", 0}));
  EXPECT_EQ(node.own_address, "localhost:1");
  EXPECT_EQ(node.port, 1);
  EXPECT_EQ(node.listen_hosts, loopback);
  EXPECT_TRUE(node.warnings.empty());
  EXPECT_EQ(*node.cluster.find("ps", 0), "ps0:2222");
}

TEST(Identity, ElsewhereListensOnAllInterfacesWithOneWarning) {
  NodeIdentity node = from("{" + two_workers + R"(, "task": {"type": "worker", "index": 1}})");
  EXPECT_EQ(node.listen_hosts, std::vector<std::string>{"::"});
  EXPECT_TRUE(node.all_interfaces);
  ASSERT_EQ(node.warnings.size(), 1u);
  EXPECT_EQ(node.warnings[0].find("listening on all interfaces, port 2: whoever reaches it can run code here"), 0u);
  EXPECT_EQ(node.warnings[0].find('\n'), std::string::npos);
}

TEST(Identity, LoopbackEntries) {
  for (const char* host : {"localhost", "127.0.0.1", "[::1]"}) {
    NodeOptions options{.cluster_spec = fmt::format("w|{}:7", host), .job_name = "w"};
    NodeIdentity node = resolved(options, nothing);
    EXPECT_EQ(node.listen_hosts, loopback) << host;
    EXPECT_EQ(node.own_address, fmt::format("{}:7", host));
  }
  NodeIdentity other = resolved({.cluster_spec = "w|127.0.0.9:7", .job_name = "w"}, nothing);
  EXPECT_EQ(other.listen_hosts, (std::vector<std::string>{"127.0.0.1", "::1", "127.0.0.9"}));
  for (const char* host : {"0.0.0.0", "[::]", "10.0.0.1", "[2001:db8::1]", "worker0"})
    EXPECT_TRUE(resolved({.cluster_spec = fmt::format("w|{}:7", host), .job_name = "w"}, nothing).all_interfaces) << host;
}

TEST(Identity, FlagsWinOverTheEnvironment) {
  auto environment = tf_config("{" + two_workers + R"(, "task": {"type": "worker", "index": 1}})");
  NodeIdentity node = resolved({.cluster_spec = "a|localhost:5;localhost:6", .job_name = "a", .task_id = 1}, environment);
  EXPECT_EQ(node.task, (Task{"a", 1}));
  EXPECT_EQ(node.cluster.jobs.size(), 1u);
  EXPECT_EQ(resolved({.job_name = "ps"}, environment).task, (Task{"ps", 0})) << "the index in TF_CONFIG is that of a worker";
  EXPECT_EQ(resolved({.job_name = "worker"}, environment).task, (Task{"worker", 1}));
  EXPECT_EQ(resolved({.task_index = 0}, environment).task, (Task{"worker", 0}));
  EXPECT_EQ(resolved({.ps_hosts = "localhost:1", .worker_hosts = "localhost:2,localhost:3"}, environment).own_address, "localhost:3");
}

TEST(Identity, HostListsAndEqualIndices) {
  NodeOptions options{.ps_hosts = "localhost:1", .worker_hosts = "localhost:2,localhost:3", .job_name = "worker", .task_id = 1, .task_index = 1};
  EXPECT_EQ(resolved(options, nothing).own_address, "localhost:3");
}

TEST(Identity, ABrokenTfConfigThatNobodyNeedsIsAWarning) {
  NodeIdentity node = resolved({.cluster_spec = "a|localhost:5", .job_name = "a", .task_id = 0}, tf_config("{"));
  ASSERT_EQ(node.warnings.size(), 1u);
  EXPECT_EQ(node.warnings[0].find("TF_CONFIG: not used"), 0u);
  EXPECT_FALSE(resolve({.cluster_spec = "a|localhost:5", .job_name = "a"}, tf_config("{")).ok());
}

TEST(Identity, PartialViewsAndEvaluators) {
  NodeIdentity sparse = from(R"({"cluster": {"worker": {"3": "localhost:9"}}, "task": {"type": "worker", "index": 3}})");
  EXPECT_EQ(sparse.own_address, "localhost:9");
  NodeIdentity evaluator = from("{" + two_workers + R"(, "task": {"type": "evaluator", "index": 0}})");
  EXPECT_EQ(evaluator.own_address, "localhost:2222");
  EXPECT_EQ(evaluator.listen_hosts, loopback);
  EXPECT_EQ(*evaluator.cluster.find("evaluator", 0), "localhost:2222");
  EXPECT_NE(evaluator.cluster.find("ps", 0), nullptr);
  NodeIdentity listed = from(R"({"cluster": {"evaluator": ["e:1"]}, "task": {"type": "evaluator", "index": 0}})");
  EXPECT_EQ(listed.own_address, "e:1");
  NodeIdentity alone = from(R"({"task": {"type": "worker", "index": 0}})");
  EXPECT_EQ(*alone.cluster.find("worker", 0), "localhost:2222");
}

TEST(Identity, PortZeroAndOtherPorts) {
  NodeIdentity free = resolved({.cluster_spec = "w|localhost:0", .job_name = "w"}, nothing);
  EXPECT_EQ(free.port, 0);
  EXPECT_TRUE(free.warnings.empty());
  EXPECT_EQ(resolved({.port = 0}, nothing).own_address, "localhost:0");
  EXPECT_EQ(resolved({.port = 77}, nothing).own_address, "localhost:77");
  NodeIdentity forwarded = resolved({.cluster_spec = "w|localhost:5", .job_name = "w", .port = 6}, nothing);
  EXPECT_EQ(forwarded.port, 6);
  EXPECT_EQ(forwarded.own_address, "localhost:5");
  ASSERT_EQ(forwarded.warnings.size(), 1u);
  EXPECT_EQ(forwarded.warnings[0].find("listening on port 6, but the cluster sends others to localhost:5"), 0u);
}

struct BindRow {
  const char* bind;
  std::vector<std::string> hosts;
  int port;
  bool all;
  bool warns;
};

TEST(Identity, BindOverrides) {
  const BindRow rows[] = {
      {"localhost", loopback, 2222, false, false},
      {"127.0.0.1", {"127.0.0.1"}, 2222, false, false},
      {"::1", {"::1"}, 2222, false, false},
      {"[::1]", {"::1"}, 2222, false, false},
      {"[::1]:2222", {"::1"}, 2222, false, false},
      {"0.0.0.0", {"0.0.0.0"}, 2222, true, true},
      {"*", {"::"}, 2222, true, true},
      {"::", {"::"}, 2222, true, true},
      {"10.0.0.5", {"10.0.0.5"}, 2222, false, true},
      {"127.0.0.1,10.0.0.5", {"127.0.0.1", "10.0.0.5"}, 2222, false, true},
  };
  for (const BindRow& row : rows) {
    NodeIdentity node = resolved({.cluster_spec = "w|w0:2222", .job_name = "w", .bind = row.bind}, nothing);
    EXPECT_EQ(node.listen_hosts, row.hosts) << row.bind;
    EXPECT_EQ(node.port, row.port) << row.bind;
    EXPECT_EQ(node.all_interfaces, row.all) << row.bind;
    EXPECT_EQ(node.warnings.size(), row.warns ? 1u : 0u) << row.bind;
    EXPECT_EQ(node.own_address, "w0:2222");
  }
  EXPECT_EQ(resolved({.bind = "localhost:5"}, nothing).port, 5);
  EXPECT_EQ(resolved({.bind = "127.0.0.1:5,[::1]:5"}, nothing).listen_hosts, loopback);
}

struct Mistake {
  NodeOptions options;
  std::optional<std::string> json;
  Code code;
  const char* why;
};

TEST(Identity, MistakesAreExplained) {
  const std::string good = "{" + two_workers + R"(, "task": {"type": "worker", "index": 0}})";
  const Mistake rows[] = {
      {{}, "{", Code::kInvalidArgument, "TF_CONFIG: line 1, column 2"},
      {{},
       "{" + two_workers + "}",
       Code::kInvalidArgument,
       "TF_CONFIG: task: it names no type; say which task this is, like {\"type\": \"worker\", \"index\": 0} (the "
       "cluster has ps (task 0), "
       "worker (tasks 0, 1))"},
      {{}, "{" + two_workers + R"(, "task": {"type": "worker"}})", Code::kInvalidArgument, "TF_CONFIG: task.index: it is missing"},
      {{},
       "{" + two_workers + R"(, "task": {"type": "chief", "index": 0}})",
       Code::kNotFound,
       "TF_CONFIG: task: Job \"chief\" was not defined in cluster; the cluster has ps (task 0), worker (tasks 0, 1)"},
      {{},
       "{" + two_workers + R"(, "task": {"type": "worker", "index": 2}})",
       Code::kOutOfRange,
       "TF_CONFIG: task: Task 2 was not defined in job \"worker\"; the job has tasks 0, 1"},
      {{},
       R"({"task": {"type": "worker", "index": 1}})",
       Code::kInvalidArgument,
       "task 1 of job 'worker': no cluster is given; set TF_CONFIG or --cluster_spec"},
      {{}, R"({"rpc_layer": "grpc+verbs"})", Code::kUnimplemented, "TF_CONFIG: rpc_layer: 'grpc+verbs' is not served"},
      {{.cluster_spec = "a|localhost:5", .job_name = "a", .task_id = 0}, R"({"rpc_layer": "mpi"})", Code::kUnimplemented, "'mpi' is not served"},
      {{.protocol = "grpc+gdr"}, std::nullopt, Code::kUnimplemented, "--protocol: 'grpc+gdr' is not served; Troupe speaks grpc only"},
      {{.job_name = "chief"}, good, Code::kNotFound, "--job_name: Job \"chief\" was not defined in cluster"},
      {{.task_id = 9}, good, Code::kOutOfRange, "Task 9 was not defined in job \"worker\""},
      {{.task_id = -1}, good, Code::kInvalidArgument, "--task_id: -1 is out of range"},
      {{.job_name = "worker", .task_id = 1}, std::nullopt, Code::kInvalidArgument, "task 1 of job 'worker': no cluster is given"},
      {{.job_name = "1-w"}, std::nullopt, Code::kInvalidArgument, "'1-w' is no job name"},
      {{.cluster_spec = "ps|a:1"}, std::nullopt, Code::kInvalidArgument, "--job_name: it is missing; say which task this is"},
      {{.cluster_spec = "ps|a", .job_name = "ps"}, std::nullopt, Code::kInvalidArgument, "--cluster_spec: job 'ps', task 0: 'a' has no port"},
      {{.cluster_spec = "ps|a:1", .ps_hosts = "a:1"}, std::nullopt, Code::kInvalidArgument, "use one form or the other"},
      {{.cluster_spec = "ps|a:1", .job_name = "ps", .task_id = 0, .task_index = 1},
       std::nullopt,
       Code::kInvalidArgument,
       "--task_id: it is 0, but --task_index is 1"},
      {{.bind = "a b"}, std::nullopt, Code::kInvalidArgument, "--bind: the host 'a b' has the character ' '"},
      {{.bind = "a:x"}, std::nullopt, Code::kInvalidArgument, "--bind: the port 'x' is no number"},
      {{.bind = "a:1,b:2"}, std::nullopt, Code::kInvalidArgument, "--bind: it names the ports 1 and 2"},
      {{.bind = ",a"}, std::nullopt, Code::kInvalidArgument, "--bind: the host is empty"},
      {{.bind = "a:1", .port = 2}, std::nullopt, Code::kInvalidArgument, "--port: it is 2, but --bind says 1"},
      {{.port = 70000}, std::nullopt, Code::kInvalidArgument, "--port: 70000 is out of range"},
  };
  for (const Mistake& row : rows) {
    auto node = resolve(row.options, tf_config(row.json));
    ASSERT_FALSE(node.ok()) << row.why;
    EXPECT_EQ(node.status().code(), row.code) << node.status();
    EXPECT_NE(text_of(node.status()).find(row.why), std::string::npos) << node.status() << "\nexpected: " << row.why;
  }
}

TEST(Identity, AProtocolFlagOverridesTheRpcLayer) {
  EXPECT_TRUE(resolve({.protocol = "grpc"}, tf_config(R"({"rpc_layer": "grpc+verbs"})")).ok());
  EXPECT_TRUE(resolve({}, tf_config(R"({"rpc_layer": "grpc"})")).ok());
}

TEST(Identity, RepeatedKeysAreWarnedOf) {
  NodeIdentity node = from(R"({"cluster": {"w": ["localhost:1"], "w": ["localhost:2"]}, "task": {"type": "w", "index": 0}})");
  ASSERT_EQ(node.warnings.size(), 1u);
  EXPECT_EQ(node.warnings[0], "TF_CONFIG: key 'w': it is there twice and the last one counts; keep one");
}

}  // namespace
}  // namespace troupe
