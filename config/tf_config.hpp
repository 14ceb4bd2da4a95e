// TF_CONFIG: the JSON text by which a task learns its cluster and its place in it.
#pragma once

#include <troupe/config/cluster.hpp>
#include <troupe/messaging/status.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What a TF_CONFIG says; absent parts are empty. Checks each part, not whether they fit together: that is resolve()'s.
struct TfConfig {
  Cluster cluster;
  std::optional<std::string> task_type;
  std::optional<int> task_index;
  std::optional<std::string> rpc_layer;
  std::string environment;
  std::string session_master;
  std::string eval_session_master;
  std::string model_dir;
  /// The JSON text of `service`, which TensorFlow hands to the program unread.
  std::string service;
  /// Top-level keys that neither TensorFlow nor we read.
  std::vector<std::string> ignored_keys;
  /// Keys that occur twice in one object; the last one counts, as in Python.
  std::vector<std::string> repeated_keys;
};

/// Reads a TF_CONFIG. Errors give the path of the part at fault, or line and column where the text is no JSON.
StatusOr<TfConfig> parse_tf_config(std::string_view json);

/// A TF_CONFIG for a task of the cluster, or for a client that is none.
std::string render_tf_config(const Cluster& cluster, const std::optional<Task>& task);

}  // namespace troupe
