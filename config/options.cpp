// The rows of the options table and the checks of single values.
#include <troupe/config/options.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace troupe {
namespace {

constexpr std::array rows{
    OptionRow{"cluster_spec", "SPEC", "All tasks of the cluster: job|host:port;host:port,job|host:port", "from TF_CONFIG",
              &NodeOptions::cluster_spec},
    OptionRow{"ps_hosts", "LIST", "Addresses of the job ps, separated by commas (instead of --cluster_spec)", "none", &NodeOptions::ps_hosts},
    OptionRow{"worker_hosts", "LIST", "Addresses of the job worker, separated by commas (instead of --cluster_spec)", "none",
              &NodeOptions::worker_hosts},
    OptionRow{"job_name", "JOB", "The job this task belongs to", "from TF_CONFIG, else local", &NodeOptions::job_name},
    OptionRow{"task_id", "N", "The index of this task in its job", "from TF_CONFIG, else 0", &NodeOptions::task_id},
    OptionRow{"task_index", "N", "The same as --task_id", "", &NodeOptions::task_index},
    OptionRow{"protocol", "NAME", "The protocol between tasks; grpc is the only one", "grpc", &NodeOptions::protocol},
    OptionRow{"bind", "HOST[:PORT]", "Listen here only; several hosts are separated by commas, * is all interfaces",
              "loopback if this task's own entry is local or absent, else all interfaces", &NodeOptions::bind},
    OptionRow{"port", "PORT", "Listen on this port; 0 picks a free one", "the port of this task's own entry, else 2222", &NodeOptions::port},
    OptionRow{"grace", "SECONDS", "How long running steps may go on after SIGTERM or SIGINT", "0.5", &NodeOptions::grace},
    OptionRow{"owner_fd", "FD", "End, as after SIGTERM, when the other end of this inherited pipe closes: with the process that started this node",
              "none", &NodeOptions::owner_fd},
    OptionRow{"log_level", "LEVEL", "trace, debug, info, warning, error or fatal; or 0 (info) to 3 (fatal)", "from TF_CPP_MIN_LOG_LEVEL, else info",
              &NodeOptions::log_level},
    OptionRow{"spin_us", "MICROS", "How long a transport thread looks for work before it sleeps; 0 is not at all", "300", &NodeOptions::spin_us},
    OptionRow{"io_threads", "N", "Threads for files and name service", "2", &NodeOptions::io_threads},
    OptionRow{"compute_threads", "N", "Threads for kernels; 0 is one per core", "0", &NodeOptions::compute_threads},
    OptionRow{"cpu_devices", "N", "Devices /device:CPU:0 to N-1, each with variables and other resources of its own", "1", &NodeOptions::cpu_devices},
    OptionRow{"metrics_dir", "DIR",
              "Count calls, errors, bytes, durations and the staleness of updates; write them to DIR/<job>_<task>, for TensorBoard and Prometheus",
              "none", &NodeOptions::metrics_dir},
    OptionRow{"metrics_secs", "SECONDS", "How often metrics are written; once more at the end", "10", &NodeOptions::metrics_secs},
};

constexpr int most_threads = 4096;
constexpr int most_devices = 1024;
constexpr int most_descriptors = 1 << 20;
constexpr int longest_spin_us = 1'000'000;
constexpr double longest_grace = 86'400;
constexpr double shortest_report = 0.01, longest_report = 86'400;

constexpr std::array<std::pair<std::string_view, LogLevel>, 12> levels{{{"trace", LogLevel::trace},
                                                                        {"debug", LogLevel::debug},
                                                                        {"info", LogLevel::info},
                                                                        {"warning", LogLevel::warning},
                                                                        {"warn", LogLevel::warning},
                                                                        {"error", LogLevel::error},
                                                                        {"fatal", LogLevel::fatal},
                                                                        {"critical", LogLevel::fatal},
                                                                        {"0", LogLevel::info},
                                                                        {"1", LogLevel::warning},
                                                                        {"2", LogLevel::error},
                                                                        {"3", LogLevel::fatal}}};

Status check_range(std::string_view name, std::optional<int> value, int least, int most) {
  if (!value || (*value >= least && *value <= most)) return {};
  return invalid("--{}: {} is out of range; use a number from {} to {}", name, *value, least, most);
}

LogLevel level_of_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (number <= 0) return LogLevel::info;
  if (number == 1) return LogLevel::warning;
  return number == 2 ? LogLevel::error : LogLevel::fatal;
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

std::span<const OptionRow> node_option_rows() { return rows; }

Status check_numbers(const NodeOptions& options) {
  constexpr int most_tasks = 1 << 30;
  TRY(check_range("task_id", options.task_id, 0, most_tasks));
  TRY(check_range("task_index", options.task_index, 0, most_tasks));
  TRY(check_range("port", options.port, 0, 65535));
  TRY(check_range("owner_fd", options.owner_fd, 0, most_descriptors));
  TRY(check_range("spin_us", options.spin_us, 0, longest_spin_us));
  TRY(check_range("io_threads", options.io_threads, 1, most_threads));
  TRY(check_range("compute_threads", options.compute_threads, 0, most_threads));
  TRY(check_range("cpu_devices", options.cpu_devices, 1, most_devices));
  if (!(options.grace >= 0 && options.grace <= longest_grace))
    return invalid("--grace: {} is out of range; use seconds from 0 to {}", options.grace, longest_grace);
  if (!(options.metrics_secs >= shortest_report && options.metrics_secs <= longest_report))
    return invalid("--metrics_secs: {} is out of range; use seconds from {} to {}", options.metrics_secs, shortest_report, longest_report);
  return {};
}

StatusOr<LogLevel> resolve_log_level(const NodeOptions& options, const Environment& environment) {
  if (options.log_level.empty()) return level_of_number(environment("TF_CPP_MIN_LOG_LEVEL").value_or("0"));
  for (const auto& [name, level] : levels)
    if (name == options.log_level) return level;
  return invalid("--log_level: '{}' is no level; use trace, debug, info, warning, error, fatal, or 0 to 3", options.log_level);
}

}  // namespace troupe
