// Which functions a graph can come to call.
#pragma once

#include <troupe/ops/graph.hpp>

namespace troupe {

/// The functions that nodes of a graph name, those that these name in turn, and their gradients; in the library's order.
wire::FunctionDefLibrary reachable_functions(const wire::GraphDef& graph, const FunctionLibrary& library);

}  // namespace troupe
