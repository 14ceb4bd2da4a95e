// Collects findings about a configuration and tells them.
#include <troupe/config/address.hpp>
#include <troupe/config/device_name.hpp>
#include <troupe/config/explain.hpp>
#include <troupe/config/tf_config.hpp>

#include <algorithm>

namespace troupe {
namespace {

/// Takes `part: ` off the front of a text.
std::string take_part(std::string_view& text) {
  auto colon = text.find(": ");
  if (colon == text.npos) return {};
  std::string part(text.substr(0, colon));
  text.remove_prefix(colon + 2);
  return part;
}

/// The parts of a message that reads `where: what; what to do`, where a place in TF_CONFIG is two parts long.
Finding finding_of(Severity severity, std::string_view text) {
  Finding finding{severity, "this task", "", ""};
  if (auto remedy = text.rfind("; "); remedy != text.npos) {
    finding.remedy = text.substr(remedy + 2);
    text = text.substr(0, remedy);
  }
  if (text.starts_with("TF_CONFIG: ")) {
    take_part(text);
    finding.where = "TF_CONFIG, " + take_part(text);
  } else if (text.starts_with("--")) {
    finding.where = take_part(text);
  }
  finding.what = text;
  return finding;
}

std::string source_of(const NodeOptions& options, bool has_tf_config) {
  bool flags = !options.cluster_spec.empty() || !options.ps_hosts.empty() || !options.worker_hosts.empty();
  bool task = !options.job_name.empty() || options.task_id || options.task_index;
  if (flags && task) return "flags";
  if (flags || task) return has_tf_config ? "flags and TF_CONFIG" : "flags";
  return has_tf_config ? "TF_CONFIG" : "defaults (no TF_CONFIG, no flags)";
}

bool is_set(const Environment& environment) {
  auto text = environment("TF_CONFIG");
  return text && text->find_first_not_of(" \t\r\n") != text->npos;
}

void note_ignored_keys(const Environment& environment, std::vector<Finding>& findings) {
  auto config = parse_tf_config(environment("TF_CONFIG").value_or("{}"));
  if (!config.ok()) return;
  for (const std::string& key : config->ignored_keys)
    findings.push_back({Severity::note, "TF_CONFIG, " + key, "this key is not read by TensorFlow or Troupe",
                        "if it is a misspelling of cluster, task or rpc_layer, correct it"});
}

std::vector<Peer> list_peers(const NodeIdentity& node) {
  std::vector<Peer> peers;
  for (const auto& [job, tasks] : node.cluster.jobs)
    for (const auto& [index, address] : tasks)
      if (Task task{job, index}; task != node.task) peers.push_back({std::move(task), address, std::nullopt});
  return peers;
}

void ask_peers(Account& account, const Probe& probe, const Roads& roads) {
  for (Peer& peer : account.peers) {
    peer.answer = probe(peer.address);
    if (peer.answer->ok() && roads) peer.road = roads(peer.address);
    if (peer.answer->ok()) continue;
    account.findings.push_back({Severity::warning, fmt::format("{} at {}", task_name(peer.task.job, peer.task.index), peer.address),
                                "does not answer: " + text_of(*peer.answer), "start it, or check its name, its port and what lies between"});
  }
}

std::string_view name_of(Severity severity) {
  if (severity == Severity::error) return "error";
  return severity == Severity::warning ? "warning" : "note";
}

std::string render_listening(const NodeIdentity& node) {
  std::string port = node.port == 0 ? "a free port" : fmt::format("port {}", node.port);
  std::string hosts = node.all_interfaces ? "all interfaces" : fmt::format("{}", fmt::join(node.listen_hosts, " and "));
  return fmt::format("It listens on {}, {}; clients and peers reach it at grpc://{}.\n", hosts, port, node.own_address);
}

std::string render_peers(const std::vector<Peer>& peers) {
  if (peers.empty()) return "It has no peers.\n";
  std::string text = "Its peers are:\n";
  for (const Peer& peer : peers) {
    std::string answer = !peer.answer ? "" : peer.answer->ok() ? "  answers" : "  does not answer";
    if (!peer.road.empty()) answer += ", " + peer.road;
    text += fmt::format("  {}  {}{}\n", task_name(peer.task.job, peer.task.index), peer.address, answer);
  }
  return text;
}

std::string render_finding(const Finding& finding) {
  std::string text = fmt::format("{}: {}: {}\n", name_of(finding.severity), finding.where, finding.what);
  if (!finding.remedy.empty()) text += fmt::format("    -> {}\n", finding.remedy);
  return text;
}

}  // namespace

bool Account::has_errors() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::error; });
}

Account explain(const NodeOptions& options, const Environment& environment, const Probe& probe, const Roads& roads) {
  Account account;
  bool has_tf_config = is_set(environment);
  account.source = source_of(options, has_tf_config);
  if (auto level = resolve_log_level(options, environment); !level.ok())
    account.findings.push_back(finding_of(Severity::error, text_of(level.status())));
  auto node = resolve(options, environment);
  if (!node.ok()) account.findings.push_back(finding_of(Severity::error, text_of(node.status())));
  if (has_tf_config) note_ignored_keys(environment, account.findings);
  if (!node.ok()) return account;
  for (const std::string& warning : node->warnings) account.findings.push_back(finding_of(Severity::warning, warning));
  for (Finding& finding : inspect_cluster(*node)) account.findings.push_back(std::move(finding));
  account.peers = list_peers(*node);
  account.node = *std::move(node);
  if (probe) ask_peers(account, probe, roads);
  return account;
}

std::string render(const Account& account) {
  std::string text;
  if (account.node) {
    const Task& task = account.node->task;
    text += fmt::format("This task is {} (from {}).\n", task_name(task.job, task.index), account.source);
    text += render_listening(*account.node) + render_peers(account.peers);
  } else {
    text += fmt::format("Who this task is cannot be told from {}.\n", account.source);
  }
  std::vector<Finding> findings = account.findings;
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  for (const Finding& finding : findings) text += render_finding(finding);
  return text + (findings.empty() ? "Nothing is wrong.\n" : "");
}

}  // namespace troupe
