// All op definitions that TensorFlow 2.15 knows, read once from the table that is linked in.
#pragma once

#include <troupe/wire/node_def.pb.h>
#include <troupe/wire/op_def.pb.h>
#include <troupe/messaging/status.hpp>

#include <string>

namespace troupe {

/// Null when there is no such op. The definitions live as long as the program.
const wire::OpDef* find_op(const std::string& name);

/// Adds the default of every attribute that the node leaves out.
void fill_defaults(wire::NodeDef* node, const wire::OpDef& op);

/// Checks a node against its definition: attributes present and of the right kind, allowed types, minimums, count of inputs.
Status validate_node(const wire::NodeDef& node, const wire::OpDef& op);

}  // namespace troupe
