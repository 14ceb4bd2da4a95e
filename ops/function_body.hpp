// A function definition made a graph: arguments and results become nodes, attributes are filled in.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <string>
#include <vector>

namespace troupe {

/// The body as a graph with _Arg and _Retval nodes, the function's own attributes replaced by those given. Nodes that neither a result nor a
/// side effect needs are left out.
StatusOr<Graph> instantiate(const wire::FunctionDef& function, const google::protobuf::Map<std::string, wire::AttrValue>& attrs, LibraryPtr library);

/// Nodes of the body that a call must have run before it is over, sorted.
std::vector<std::string> control_results(const wire::FunctionDef& function);

}  // namespace troupe
