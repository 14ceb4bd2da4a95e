// A whole cluster of node processes on this machine.
#pragma once

#include <troupe/config/cluster.hpp>
#include <troupe/messaging/status.hpp>

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace troupe {

/// Starts one `troupe node` per task on free loopback ports and copies their logs, each line with its task's name in front. Stops them with it.
class LocalCluster {
 public:
  static StatusOr<std::unique_ptr<LocalCluster>> start(const std::vector<JobCount>& jobs, const std::vector<std::string>& node_arguments, bool quiet);
  ~LocalCluster();

  const Cluster& cluster() const { return cluster_; }
  /// The first task that has ended by itself; nothing while all serve.
  std::string ended();
  /// SIGTERM to all, SIGKILL to those who are still there after the time. True when all ended well.
  bool stop(std::chrono::milliseconds patience);

 private:
  struct Member {
    std::string name;
    pid_t pid = -1;
    int exit_code = 0;
    std::vector<std::thread> readers;
  };
  Status spawn(const Task& task, const std::vector<std::string>& node_arguments, bool quiet);
  Status wait_until_serving();

  Cluster cluster_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace troupe
