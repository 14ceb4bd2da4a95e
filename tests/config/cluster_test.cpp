// Cluster specifications from flags, and what is said about wrong ones.
#include <troupe/config/cluster.hpp>

#include <gtest/gtest.h>

namespace troupe {
namespace {

void expect_error(const Status& status, std::string_view why) {
  EXPECT_FALSE(status.ok()) << "expected: " << why;
  EXPECT_NE(text_of(status).find(why), std::string::npos) << status << "\nexpected: " << why;
}

TEST(Cluster, ReadsTheFormOfTensorFlowsServer) {
  auto cluster = parse_cluster_spec("ps|a:1;b:2,worker|[::1]:3");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->jobs, (decltype(cluster->jobs){{"ps", {{0, "a:1"}, {1, "b:2"}}}, {"worker", {{0, "[::1]:3"}}}}));
  EXPECT_EQ(*to_cluster_spec(*cluster), "ps|a:1;b:2,worker|[::1]:3");
  EXPECT_EQ(*parse_cluster_spec(" ps | a:1 ; b:2 , worker|[::1]:3 "), *cluster);
}

TEST(Cluster, RefusesBadSpecs) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "--cluster_spec: it is empty"},
      {"  ", "--cluster_spec: it is empty"},
      {"ps", "'ps' has no '|'; write 'job|host:port;host:port'"},
      {"a:1,b:2", "'a:1' has no '|'"},
      {"ps|", "job 'ps' has no tasks; write 'ps|host:port'"},
      {"|a:1", "'' is no job name"},
      {"1-w|a:1", "'1-w' is no job name"},
      {"ps|a:1,", "there is an empty job"},
      {",ps|a:1", "there is an empty job"},
      {"ps|a:1;", "job 'ps', task 1: the address is empty"},
      {"ps|a:1;b", "job 'ps', task 1: 'b' has no port; write 'b:2222'"},
      {"ps|a:1,ps|b:1", "job 'ps' is there twice"},
      {"ps|a:1|b:1", "job 'ps', task 0: 'a:1|b:1' has several colons"},
      {"ps|a:70000", "the port 70000 is out of range"},
  };
  for (const auto& [text, why] : rows) expect_error(parse_cluster_spec(text).status(), why);
}

TEST(Cluster, ReadsHostLists) {
  auto cluster = parse_host_lists("a:1, b:2", "c:3");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(*to_cluster_spec(*cluster), "ps|a:1;b:2,worker|c:3");
  EXPECT_FALSE(parse_host_lists("", "c:3")->jobs.contains("ps"));
  expect_error(parse_host_lists("a:1,,b:1", "").status(), "--ps_hosts: job 'ps', task 1: the address is empty");
  expect_error(parse_host_lists("", "a;b").status(), "--worker_hosts: job 'worker', task 0: the host 'a;b'");
}

TEST(Cluster, AddsTasksWithChecks) {
  Cluster cluster;
  EXPECT_TRUE(add_task(cluster, "w", 7, "a:1", "here").ok());
  expect_error(add_task(cluster, "w", 7, "b:1", "here"), "here: job 'w' has task 7 twice");
  expect_error(add_task(cluster, "w", -1, "b:1", "here"), "here: task index -1 of job 'w' is negative");
  EXPECT_EQ(*cluster.find("w", 7), "a:1");
  EXPECT_EQ(cluster.find("w", 0), nullptr);
  EXPECT_EQ(cluster.find("x", 7), nullptr);
  expect_error(to_cluster_spec(cluster).status(), "--cluster_spec cannot say which are left out");
}

TEST(Cluster, SaysWhatExists) {
  Cluster cluster = *parse_cluster_spec("ps|a:1,worker|b:1;b:2,big|c:1;c:2;c:3;c:4;c:5");
  cluster.jobs["none"];
  EXPECT_TRUE(check_task(cluster, {"worker", 1}).ok());
  Status job = check_task(cluster, {"chief", 0});
  EXPECT_EQ(job.code(), Code::kNotFound);
  expect_error(job,
               "Job \"chief\" was not defined in cluster; the cluster has big (tasks 0 to 4), none (no tasks), ps (task 0), "
               "worker (tasks 0, 1)");
  Status index = check_task(cluster, {"worker", 2});
  EXPECT_EQ(index.code(), Code::kOutOfRange);
  expect_error(index, "Task 2 was not defined in job \"worker\"; the job has tasks 0, 1");
  expect_error(check_task({}, {"ps", 0}), "the cluster has no jobs");
}

TEST(Cluster, ReadsJobCounts) {
  EXPECT_EQ(*parse_job_count("worker=2"), (JobCount{"worker", 2}));
  EXPECT_EQ(*parse_job_count("ps"), (JobCount{"ps", 1}));
  for (const char* text : {"", "=1", "ps=", "ps=0", "ps=-1", "ps=x", "ps=1x", "ps=99999999999", "p s=1", "ps=1=2"})
    expect_error(parse_job_count(text).status(), "--job: ");
}

}  // namespace
}  // namespace troupe
