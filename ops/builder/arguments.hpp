// From what an op is given to what its node says: types and lengths of lists follow from the inputs.
#pragma once

#include <troupe/wire/node_def.pb.h>
#include <troupe/wire/op_def.pb.h>
#include <troupe/ops/builder/builder.hpp>

namespace troupe::build {

/// Checks the inputs against the definition, and sets the attributes that they decide. The inputs in one row.
StatusOr<std::vector<Out>> bind_arguments(const wire::OpDef& op, const std::vector<In>& inputs, wire::NodeDef& def);

}  // namespace troupe::build
