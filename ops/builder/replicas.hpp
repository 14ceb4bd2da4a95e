// Training by several workers: where variables go, and how workers step together.
#pragma once

#include <troupe/ops/builder/optimizer.hpp>

namespace troupe::build {

struct ReplicaDevices {
  int ps_tasks = 0;
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  /// Fields of devices that scopes further in said stay as they are; what is missing is filled in.
  bool merge = true;
};

/// For Builder::device: variables and tables go to the tasks of the ps job in turn, all else to the worker. Copies share the turn.
DeviceFunction replica_device_setter(const ReplicaDevices& devices);

/// What workers run to step together: gradients are collected until there are enough, the chief applies their average, and tokens let
/// everybody go on. A gradient that was computed for an older step is dropped.
struct SyncReplicas {
  Op train;        // each worker's step: hands in gradients, waits for a token
  Op update;       // the chief runs this over and over: takes averages, applies them, gives out tokens
  Op init_tokens;  // the chief, once, after initialization
  Op chief_init;   // the chief, once, in place of local_init
  Op local_init;   // every other worker, once the variables are there
};

struct SyncOptions {
  int replicas_to_aggregate = 1;
  int total_replicas = 0;    // as many as are aggregated where not said
  int tokens_at_start = -1;  // as many as are aggregated where not said
};

SyncReplicas synchronize(Optimizer& optimizer, const std::vector<GradientOf>& gradients, const Variable& global_step, const SyncOptions& options);

}  // namespace troupe::build
