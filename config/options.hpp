// The options of a node: one table that declares them, prints their help and carries their defaults.
#pragma once

#include <troupe/messaging/status.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe {

/// Looks up an environment variable.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// The environment of this process.
Environment process_environment();

/// What the command line says. An empty text or an absent number was not given.
struct NodeOptions {
  std::string cluster_spec;
  std::string ps_hosts;
  std::string worker_hosts;
  std::string job_name;
  std::optional<int> task_id;
  std::optional<int> task_index;
  std::string protocol;
  std::string bind;
  std::optional<int> port;
  double grace = 0.5;
  std::optional<int> owner_fd;
  std::string log_level;
  int spin_us = 300;
  int io_threads = 2;
  int compute_threads = 0;
  int cpu_devices = 1;
  std::string metrics_dir;
  double metrics_secs = 10;
};

/// Where the value of an option goes.
using OptionPlace = std::variant<std::string NodeOptions::*, std::optional<int> NodeOptions::*, int NodeOptions::*, double NodeOptions::*>;

/// One option: its name without dashes, what stands for its value in the help, and what it does and is by default.
struct OptionRow {
  const char* name;
  const char* placeholder;
  const char* help;
  const char* default_text;
  OptionPlace place;
};

/// All options of a node, in the order of the help.
std::span<const OptionRow> node_option_rows();

/// Refuses numbers out of range.
Status check_numbers(const NodeOptions& options);

/// From all to nothing but fatal errors.
enum class LogLevel { trace, debug, info, warning, error, fatal };

/// --log_level, else TF_CPP_MIN_LOG_LEVEL (0 info, 1 warning, 2 error, 3 fatal), else info. A value of the variable
/// that is no number counts as info, as in TensorFlow; of the option, it is an error.
StatusOr<LogLevel> resolve_log_level(const NodeOptions& options, const Environment& environment);

}  // namespace troupe
