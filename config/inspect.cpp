// Remarks on a cluster that is well formed and yet may not work.
#include <troupe/config/address.hpp>
#include <troupe/config/explain.hpp>

#include <algorithm>
#include <array>

namespace troupe {
namespace {

std::string place_of(const std::string& job, int index) { return fmt::format("job '{}', task {}", job, index); }

template <class Visit>
void for_each_task(const Cluster& cluster, Visit visit) {
  for (const auto& [job, tasks] : cluster.jobs)
    for (const auto& [index, address] : tasks) visit(job, index, address);
}

/// The host of a checked address.
std::string host_of(const std::string& address) {
  auto parsed = parse_address(address);
  return parsed.ok() ? parsed->host : std::string();
}

void find_repeated_addresses(const Cluster& cluster, std::vector<Finding>& findings) {
  std::map<std::string, std::string> seen;
  for_each_task(cluster, [&](const std::string& job, int index, const std::string& address) {
    if (address.ends_with(":0")) return;
    auto [first, added] = seen.emplace(address, place_of(job, index));
    if (added) return;
    findings.push_back({Severity::error, place_of(job, index), fmt::format("{} is also the address of {}", address, first->second),
                        "give every task its own host and port"});
  });
}

void find_undialable_hosts(const NodeIdentity& node, std::vector<Finding>& findings) {
  for_each_task(node.cluster, [&](const std::string& job, int index, const std::string& address) {
    bool own = Task{job, index} == node.task;
    if (is_wildcard(host_of(address)))
      findings.push_back({Severity::error, place_of(job, index), address + " names every interface and no machine: no peer can dial it",
                          "put the name or address of the machine here; where to listen is said with --bind"});
    if (address.ends_with(":0") && !own)
      findings.push_back(
          {Severity::error, place_of(job, index), address + " has port 0: nobody can dial it", "put the port on which that task listens"});
  });
}

bool is_reserved(std::string_view host) {
  constexpr std::array endings{".invalid", ".example", ".test", "example.com", "example.net", "example.org"};
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return host.ends_with(ending); });
}

void find_doubtful_names(const Cluster& cluster, std::vector<Finding>& findings) {
  for_each_task(cluster, [&](const std::string& job, int index, const std::string& address) {
    std::string host = host_of(address);
    if (is_reserved(host))
      findings.push_back({Severity::warning, place_of(job, index), fmt::format("'{}' is a name for examples: it has no address", host),
                          "put the name of the real machine"});
    else if (host.find('_') != std::string::npos)
      findings.push_back({Severity::note, place_of(job, index), fmt::format("'{}' has a '_', which some name servers refuse", host),
                          "if it does not resolve, use '-' or an address"});
  });
}

void find_mixed_loopback(const Cluster& cluster, std::vector<Finding>& findings) {
  std::vector<std::string> local;
  int others = 0;
  for_each_task(cluster, [&](const std::string& job, int index, const std::string& address) {
    if (is_loopback(host_of(address))) local.push_back(place_of(job, index));
    else ++others;
  });
  if (local.empty() || others == 0) return;
  findings.push_back({Severity::warning, "cluster",
                      fmt::format("{} is on this machine's loopback while other tasks are elsewhere: on another machine the same "
                                  "address means that machine",
                                  fmt::join(local, ", and ")),
                      "use addresses that mean the same everywhere"});
}

void find_missing_roles(const Cluster& cluster, std::vector<Finding>& findings) {
  bool chief = cluster.jobs.contains("chief");
  bool master = cluster.jobs.contains("master");
  bool workers = cluster.jobs.contains("worker");
  if (chief && master)
    findings.push_back({Severity::error, "cluster", "it has both 'chief' and 'master', which are two names of one role", "keep 'chief'"});
  for (const char* job : {"chief", "master"})
    if (auto tasks = cluster.jobs.find(job); tasks != cluster.jobs.end() && tasks->second.size() != 1)
      findings.push_back({Severity::error, fmt::format("job '{}'", job),
                          fmt::format("it has {} tasks; estimators want exactly one", tasks->second.size()), "keep one"});
  if (cluster.jobs.contains("ps") && !workers && !chief && !master)
    findings.push_back({Severity::note, "cluster", "there are ps tasks but no 'chief', 'master' or 'worker'",
                        "fine for a partial view; otherwise add the tasks that train"});
  if (workers && !chief && !master)
    findings.push_back({Severity::note, "cluster", "there is no 'chief': programs take worker 0 for it, estimators refuse to start",
                        "add a 'chief' if an estimator uses this TF_CONFIG"});
}

void find_gaps(const Cluster& cluster, std::vector<Finding>& findings) {
  for (const auto& [job, tasks] : cluster.jobs) {
    if (tasks.empty()) findings.push_back({Severity::note, fmt::format("job '{}'", job), "it has no tasks", "remove it, or add its addresses"});
    else if (tasks.rbegin()->first + 1 != std::ssize(tasks))
      findings.push_back({Severity::note, fmt::format("job '{}'", job),
                          fmt::format("{} of its first {} tasks are left out: this task will not reach those",
                                      tasks.rbegin()->first + 1 - std::ssize(tasks), tasks.rbegin()->first + 1),
                          ""});
  }
}

}  // namespace

std::vector<Finding> inspect_cluster(const NodeIdentity& node) {
  std::vector<Finding> findings;
  find_repeated_addresses(node.cluster, findings);
  find_undialable_hosts(node, findings);
  find_doubtful_names(node.cluster, findings);
  find_mixed_loopback(node.cluster, findings);
  find_missing_roles(node.cluster, findings);
  find_gaps(node.cluster, findings);
  return findings;
}

}  // namespace troupe
