// One kernel's run, and how its node tells what went wrong.
#pragma once

#include <troupe/devices/plan.hpp>

namespace troupe {

/// Exceptions of libraries and of the allocator end here.
Status run_kernel(const Kernel& kernel, Call& call);

/// What a kernel that waits, or an allocation in it, failed of.
Status out_of_memory(const OutOfMemory& e, const NodeFacts& node);

/// The status as the node tells it: with its name and those of its callers.
Status told_by(const PlanNode& p, Status status);

}  // namespace troupe
