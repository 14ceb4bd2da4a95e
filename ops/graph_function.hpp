// Whole graphs in the place of functions: what StepHost::keep_function gets for a graph that comes with a library of its own.
#pragma once

#include <troupe/wire/attr_value.pb.h>
#include <troupe/wire/graph.pb.h>

#include <string>

namespace troupe {

inline constexpr const char* graph_function_attr = "graph";

/// No function of a library is without a name.
inline wire::NameAttrList as_function(const wire::GraphDef& graph) {
  wire::NameAttrList function;
  (*function.mutable_attr())[graph_function_attr].set_s(graph.SerializeAsString());
  return function;
}

inline bool is_graph(const wire::NameAttrList& function) { return function.name().empty() && function.attr().contains(graph_function_attr); }

}  // namespace troupe
