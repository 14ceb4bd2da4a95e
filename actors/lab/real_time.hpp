// Runs in real time, on nodes of this process or on processes of their own.
#pragma once

#include <troupe/actors/lab/training.hpp>

namespace troupe::lab {

/// One run with one node per ps task and worker. The spec's times of computing and sending are waited in addition to what it takes; a slow worker
/// takes a multiple of both.
StatusOr<RunRecord> run_in_real_time(const Spec& spec, const Case& run, const Data& data, const RunHooks& hooks);

}  // namespace troupe::lab
