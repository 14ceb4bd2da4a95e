// Reading and writing of cluster specifications.
#include <troupe/config/address.hpp>
#include <troupe/config/cluster.hpp>
#include <troupe/config/device_name.hpp>

#include <charconv>

namespace troupe {
namespace {

constexpr int most_tasks_of_a_job = 10000;

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Status check_job_name(std::string_view job, std::string_view where) {
  if (is_valid_name(job)) return {};
  return invalid("{}: '{}' is no job name; a job name is a letter followed by letters, digits and '_'", where, job);
}

Status add_tasks(Cluster& cluster, std::string_view job, std::string_view list, char separator, std::string_view where) {
  int index = 0;
  for (std::string_view address : split(list, separator)) TRY(add_task(cluster, job, index++, address, where));
  return {};
}

Status read_job(Cluster& cluster, std::string_view text) {
  constexpr std::string_view where = "--cluster_spec";
  if (text.empty()) return invalid("{}: there is an empty job; jobs are separated by one ','", where);
  auto bar = text.find('|');
  if (bar == std::string_view::npos)
    return invalid("{}: '{}' has no '|'; write 'job|host:port;host:port', with ',' between jobs and ';' between tasks", where, text);
  std::string_view job = trim(text.substr(0, bar));
  std::string_view tasks = trim(text.substr(bar + 1));
  TRY(check_job_name(job, where));
  if (tasks.empty()) return invalid("{}: job '{}' has no tasks; write '{}|host:port'", where, job, job);
  if (cluster.jobs.contains(std::string(job)))
    return invalid("{}: job '{}' is there twice; list all its tasks once, with ';' between them", where, job);
  return add_tasks(cluster, job, tasks, ';', where);
}

bool is_dense(const std::map<int, std::string>& tasks) { return tasks.empty() || tasks.rbegin()->first + 1 == std::ssize(tasks); }

std::string list_indices(const std::map<int, std::string>& tasks) {
  if (tasks.empty()) return "no tasks";
  if (tasks.size() > 3 && is_dense(tasks)) return fmt::format("tasks 0 to {}", tasks.rbegin()->first);
  std::string text = tasks.size() == 1 ? "task " : "tasks ";
  for (const auto& [index, address] : tasks) text += fmt::format("{}{}", index == tasks.begin()->first ? "" : ", ", index);
  return text;
}

}  // namespace

const std::string* Cluster::find(std::string_view job, int index) const {
  auto tasks = jobs.find(std::string(job));
  if (tasks == jobs.end()) return nullptr;
  auto task = tasks->second.find(index);
  return task == tasks->second.end() ? nullptr : &task->second;
}

Status add_job(Cluster& cluster, std::string_view job, std::string_view where) {
  TRY(check_job_name(job, where));
  cluster.jobs[std::string(job)];
  return {};
}

Status add_task(Cluster& cluster, std::string_view job, int index, std::string_view address, std::string_view where) {
  TRY(add_job(cluster, job, where));
  if (index < 0) return invalid("{}: task index {} of job '{}' is negative; indices start at 0", where, index, job);
  auto parsed = parse_address(address);
  if (!parsed.ok()) return invalid("{}: job '{}', task {}: {}", where, job, index, text_of(parsed.status()));
  auto [place, added] = cluster.jobs[std::string(job)].emplace(index, to_string(*parsed));
  if (!added) return invalid("{}: job '{}' has task {} twice; give each index once", where, job, index);
  return {};
}

StatusOr<Cluster> parse_cluster_spec(std::string_view text) {
  Cluster cluster;
  if (trim(text).empty()) return invalid("--cluster_spec: it is empty; write 'ps|host:port,worker|host:port;host:port'");
  for (std::string_view job : split(text, ',')) TRY(read_job(cluster, job));
  return cluster;
}

StatusOr<Cluster> parse_host_lists(std::string_view ps_hosts, std::string_view worker_hosts) {
  Cluster cluster;
  if (!trim(ps_hosts).empty()) TRY(add_tasks(cluster, "ps", ps_hosts, ',', "--ps_hosts"));
  if (!trim(worker_hosts).empty()) TRY(add_tasks(cluster, "worker", worker_hosts, ',', "--worker_hosts"));
  return cluster;
}

StatusOr<JobCount> parse_job_count(std::string_view text) {
  auto equals = text.find('=');
  std::string_view job = trim(text.substr(0, equals));
  TRY(check_job_name(job, "--job"));
  if (equals == std::string_view::npos) return JobCount{std::string(job), 1};
  std::string_view number = trim(text.substr(equals + 1));
  int tasks = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tasks);
  if (error != std::errc() || end != number.data() + number.size() || tasks < 1 || tasks > most_tasks_of_a_job)
    return invalid("--job: '{}' asks for '{}' tasks; give a number from 1 to {}, like '{}=2'", text, number, most_tasks_of_a_job, job);
  return JobCount{std::string(job), tasks};
}

StatusOr<std::string> to_cluster_spec(const Cluster& cluster) {
  std::string text;
  for (const auto& [job, tasks] : cluster.jobs) {
    if (tasks.empty()) continue;
    if (!is_dense(tasks)) return invalid("job '{}' has {}: --cluster_spec cannot say which are left out; use TF_CONFIG", job, list_indices(tasks));
    text += (text.empty() ? "" : ",") + job;
    for (const auto& [index, address] : tasks) text += (index == 0 ? '|' : ';') + address;
  }
  return text;
}

Status check_task(const Cluster& cluster, const Task& task) {
  auto job = cluster.jobs.find(task.job);
  if (job == cluster.jobs.end()) return not_found("Job \"{}\" was not defined in cluster; the cluster has {}", task.job, describe_tasks(cluster));
  if (!job->second.contains(task.index))
    return out_of_range("Task {} was not defined in job \"{}\"; the job has {} (indices start at 0)", task.index, task.job,
                        list_indices(job->second));
  return {};
}

std::string describe_tasks(const Cluster& cluster) {
  std::string text;
  for (const auto& [job, tasks] : cluster.jobs) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", job, list_indices(tasks));
  return text.empty() ? "no jobs" : text;
}

}  // namespace troupe
