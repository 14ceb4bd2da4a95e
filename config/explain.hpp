// An account of a node's configuration for people: who it is, what is wrong and where, which peers answer.
#pragma once

#include <troupe/config/identity.hpp>
#include <troupe/config/options.hpp>
#include <troupe/messaging/status.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

enum class Severity { note, warning, error };

/// One thing to know: where it is, what it is, and what to do about it (which may be empty).
struct Finding {
  Severity severity = Severity::note;
  std::string where;
  std::string what;
  std::string remedy;

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Another task of the cluster, and whether it answered; absent when nobody asked.
struct Peer {
  Task task;
  std::string address;
  std::optional<Status> answer;
  std::string road;  // by which tensors will travel, where somebody asked
};

/// Asks the task at `host:port` for a sign of life.
using Probe = std::function<Status(const std::string& address)>;
/// Tells by which road tensors travel to a task that answers.
using Roads = std::function<std::string(const std::string& address)>;

/// The whole account. `node` is absent when the configuration does not say who this task is.
struct Account {
  std::optional<NodeIdentity> node;
  std::string source;
  std::vector<Peer> peers;
  std::vector<Finding> findings;

  bool has_errors() const;
};

/// What of a cluster deserves a remark: addresses used twice or that nobody can dial, missing jobs, and the like.
std::vector<Finding> inspect_cluster(const NodeIdentity& node);

/// Explains a configuration; peers are asked one after another when `probe` is given.
Account explain(const NodeOptions& options, const Environment& environment, const Probe& probe = nullptr, const Roads& roads = nullptr);

/// The account as lines of text.
std::string render(const Account& account);

}  // namespace troupe
