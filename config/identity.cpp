// Puts options and TF_CONFIG together and decides where to listen.
#include <troupe/config/address.hpp>
#include <troupe/config/identity.hpp>
#include <troupe/config/tf_config.hpp>

#include <algorithm>

namespace troupe {
namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool gives_cluster(const NodeOptions& options) { return !options.cluster_spec.empty() || !options.ps_hosts.empty() || !options.worker_hosts.empty(); }

/// What TF_CONFIG says. Where the options say everything, a broken TF_CONFIG is only worth a warning.
StatusOr<TfConfig> read_environment(const NodeOptions& options, const Environment& environment, std::vector<std::string>& warnings) {
  auto text = environment("TF_CONFIG");
  if (!text || is_blank(*text)) return TfConfig{};
  bool needed = !gives_cluster(options) || options.job_name.empty() || !(options.task_id || options.task_index);
  auto config = parse_tf_config(*text);
  if (!config.ok() && !needed) {
    warnings.push_back("TF_CONFIG: not used, for the flags give cluster and task: " + text_of(config.status()));
    return TfConfig{};
  }
  if (!config.ok()) return config;
  for (const std::string& key : config->repeated_keys)
    warnings.push_back(fmt::format("TF_CONFIG: key '{}': it is there twice and the last one counts; keep one", key));
  return config;
}

Status check_protocol(const NodeOptions& options, const TfConfig& config) {
  if (!options.protocol.empty()) {
    if (options.protocol == "grpc") return {};
    return unimplemented("--protocol: '{}' is not served; Troupe speaks grpc only", options.protocol);
  }
  if (!config.rpc_layer || *config.rpc_layer == "grpc") return {};
  return unimplemented("TF_CONFIG: rpc_layer: '{}' is not served; Troupe speaks grpc only: remove it, or pass --protocol=grpc", *config.rpc_layer);
}

StatusOr<Cluster> choose_cluster(const NodeOptions& options, const TfConfig& config) {
  bool lists = !options.ps_hosts.empty() || !options.worker_hosts.empty();
  if (lists && !options.cluster_spec.empty()) return invalid("--cluster_spec: --ps_hosts or --worker_hosts is given too; use one form or the other");
  if (lists) return parse_host_lists(options.ps_hosts, options.worker_hosts);
  if (!options.cluster_spec.empty()) return parse_cluster_spec(options.cluster_spec);
  return config.cluster;
}

StatusOr<std::optional<int>> index_option(const NodeOptions& options) {
  if (options.task_id && options.task_index && *options.task_id != *options.task_index)
    return invalid("--task_id: it is {}, but --task_index is {}; give one of them", *options.task_id, *options.task_index);
  return options.task_id ? options.task_id : options.task_index;
}

/// Which task of the cluster this is. The index in TF_CONFIG counts only for the job in TF_CONFIG.
StatusOr<Task> choose_task(const NodeOptions& options, const TfConfig& config, const Cluster& cluster) {
  TRY_ASSIGN(std::optional<int> index, index_option(options));
  if (!options.job_name.empty()) {
    if (!index && config.task_type == options.job_name) index = config.task_index;
    return Task{options.job_name, index.value_or(0)};
  }
  if (!index) index = config.task_index;
  if (config.task_type) {
    if (!index && !cluster.empty()) return invalid("TF_CONFIG: task.index: it is missing; add the index of this task in job '{}'", *config.task_type);
    return Task{*config.task_type, index.value_or(0)};
  }
  if (cluster.empty()) return Task{"local", index.value_or(0)};
  if (gives_cluster(options))
    return invalid("--job_name: it is missing; say which task this is with --job_name and --task_id (the cluster has {})", describe_tasks(cluster));
  return invalid(
      "TF_CONFIG: task: it names no type; say which task this is, like {{\"type\": \"worker\", \"index\": 0}} (the "
      "cluster has {})",
      describe_tasks(cluster));
}

/// Whether the task may do without an entry: an evaluator stands beside its cluster, and a task alone is its own
/// cluster.
bool may_be_absent(const Cluster& cluster, const Task& task) {
  if (cluster.empty()) return task.index == 0;
  return task.job == "evaluator" && !cluster.jobs.contains(task.job);
}

Status check_membership(const NodeOptions& options, const Cluster& cluster, const Task& task) {
  if (cluster.empty() && task.index != 0)
    return invalid("task {} of job '{}': no cluster is given; set TF_CONFIG or --cluster_spec", task.index, task.job);
  std::string_view where = options.job_name.empty() ? "TF_CONFIG: task: " : "--job_name: ";
  return prepend_text(where, check_task(cluster, task));
}

/// Hosts and port to listen on, as far as --bind says them.
struct Binding {
  std::vector<std::string> hosts;
  std::optional<int> port;
};

Status add_binding(Binding& binding, std::string_view item) {
  auto host = item == "*" ? StatusOr<std::string>("::") : parse_host(item);
  if (!host.ok()) {
    auto address = parse_address(item);
    if (!address.ok()) return prepend_text("--bind: ", item.find(':') == item.npos ? host.status() : address.status());
    if (binding.port.value_or(address->port) != address->port)
      return invalid("--bind: it names the ports {} and {}; a node listens on one", *binding.port, address->port);
    binding.port = address->port;
    host = address->host;
  }
  if (*host == "localhost") binding.hosts.insert(binding.hosts.end(), {"127.0.0.1", "::1"});
  else binding.hosts.push_back(*host);
  return {};
}

StatusOr<Binding> parse_binding(std::string_view text) {
  Binding binding;
  while (!text.empty()) {
    auto comma = text.find(',');
    TRY(add_binding(binding, text.substr(0, comma)));
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return binding;
}

std::vector<std::string> hosts_for(const std::optional<Address>& own) {
  if (own && !is_loopback(own->host)) return {"::"};
  std::vector<std::string> hosts{"127.0.0.1", "::1"};
  // The rest of 127/8 is loopback too, but has to be listened on by name.
  if (own && is_ipv4(own->host) && own->host != "127.0.0.1") hosts.push_back(own->host);
  return hosts;
}

void warn_of_exposure(NodeIdentity& node) {
  node.all_interfaces = std::any_of(node.listen_hosts.begin(), node.listen_hosts.end(), is_wildcard);
  if (std::all_of(node.listen_hosts.begin(), node.listen_hosts.end(), is_loopback)) return;
  node.warnings.push_back(
      fmt::format("listening on {}, port {}: whoever reaches it can run code here; keep it inside a trusted "
                  "network, or pass --bind=localhost",
                  node.all_interfaces ? "all interfaces" : fmt::format("{}", fmt::join(node.listen_hosts, ", ")), node.port));
}

Status settle_listening(NodeIdentity& node, const NodeOptions& options, const std::optional<Address>& own) {
  TRY_ASSIGN(Binding binding, parse_binding(options.bind));
  if (binding.port && options.port && *binding.port != *options.port)
    return invalid("--port: it is {}, but --bind says {}; give one of them", *options.port, *binding.port);
  std::optional<int> wanted = options.port ? options.port : binding.port;
  node.port = wanted.value_or(own ? own->port : default_port);
  node.listen_hosts = binding.hosts.empty() ? hosts_for(own) : std::move(binding.hosts);
  if (own && own->port != node.port)
    node.warnings.push_back(
        fmt::format("listening on port {}, but the cluster sends others to {}: they reach this task only if "
                    "that is forwarded here",
                    node.port, to_string(*own)));
  warn_of_exposure(node);
  return {};
}

}  // namespace

StatusOr<NodeIdentity> resolve(const NodeOptions& options, const Environment& environment) {
  NodeIdentity node;
  TRY(check_numbers(options));
  TRY_ASSIGN(TfConfig config, read_environment(options, environment, node.warnings));
  TRY(check_protocol(options, config));
  TRY_ASSIGN(node.cluster, choose_cluster(options, config));
  TRY_ASSIGN(node.task, choose_task(options, config, node.cluster));
  std::optional<Address> own;
  if (!may_be_absent(node.cluster, node.task)) {
    TRY(check_membership(options, node.cluster, node.task));
    TRY_ASSIGN(own, parse_address(*node.cluster.find(node.task.job, node.task.index)));
  }
  TRY(settle_listening(node, options, own));
  node.own_address = to_string(own.value_or(Address{"localhost", node.port}));
  if (!own) TRY(add_task(node.cluster, node.task.job, node.task.index, node.own_address, "this task"));
  return node;
}

}  // namespace troupe
