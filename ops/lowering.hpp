// Lowering: calls of functions, conditionals and loops become plain nodes, as TensorFlow's master sends them to workers.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

namespace troupe {

/// What becomes of a node that called a function: it may still be fetched and fed under its name, or, where a step is already cut out of its
/// graph, others take the results directly and the node only stands for the end of the call.
enum class Callers { fetchable, passed_by };

/// Puts the bodies of PartitionedCall, StatefulPartitionedCall and calls by name in their place, turns If and Case into Switch and Merge, and
/// While into a loop of Enter, Merge, Switch, NextIteration and Exit. New nodes have requested devices but are not placed. Calls of a function
/// within itself are left to be made at run time.
/// `optimized` tells how errors name callers: TensorFlow's optimizer leaves no calls that it can avoid.
Status lower_functions(Graph& graph, Callers callers = Callers::passed_by, bool optimized = true);

/// Attribute of nodes that came out of functions: those of their callers that errors mention. One in parentheses indents the text.
inline constexpr const char* callers_attr = "_callers";

}  // namespace troupe
