// A cluster: which jobs there are, which tasks they have, and where each task listens.
#pragma once

#include <troupe/messaging/status.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Job name, then task index, then `host:port`. Indices may have gaps: a task need not know all its peers.
struct Cluster {
  std::map<std::string, std::map<int, std::string>> jobs;

  bool empty() const { return jobs.empty(); }
  /// The address of a task, or nullptr.
  const std::string* find(std::string_view job, int index) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// One task of a cluster.
struct Task {
  std::string job;
  int index = 0;

  friend bool operator==(const Task&, const Task&) = default;
};

/// How many tasks of a job to start.
struct JobCount {
  std::string job;
  int tasks = 0;

  friend bool operator==(const JobCount&, const JobCount&) = default;
};

/// Adds a job without tasks after checking its name; errors of all that is here read `where: what; what to do`.
Status add_job(Cluster& cluster, std::string_view job, std::string_view where);

/// Adds a task after checking job name, index and address.
Status add_task(Cluster& cluster, std::string_view job, int index, std::string_view address, std::string_view where);

/// Reads `ps|h:p;h:p,worker|h:p`, the form of TensorFlow's server.
StatusOr<Cluster> parse_cluster_spec(std::string_view text);

/// Makes a cluster of the jobs ps and worker from comma-separated lists of addresses; an empty list makes no job.
StatusOr<Cluster> parse_host_lists(std::string_view ps_hosts, std::string_view worker_hosts);

/// Reads `worker=2`; a job alone means one task.
StatusOr<JobCount> parse_job_count(std::string_view text);

/// The cluster in the form that parse_cluster_spec reads. That form cannot say gaps: fails for a job whose indices have
/// any.
StatusOr<std::string> to_cluster_spec(const Cluster& cluster);

/// An existing task of the cluster, or an error that lists what exists.
Status check_task(const Cluster& cluster, const Task& task);

/// `ps (task 0), worker (tasks 0, 1)`, for messages.
std::string describe_tasks(const Cluster& cluster);

}  // namespace troupe
