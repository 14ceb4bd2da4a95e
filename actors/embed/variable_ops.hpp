// The ops by which a session reads and writes the variables of its graph, whatever server it runs on.
#pragma once

#include <troupe/wire/graph.pb.h>

#include <map>
#include <string>

namespace troupe::embed {

/// Names of nodes. A variable of the old kind has its value for a handle.
struct VariableOps {
  std::string handle;
  std::string value;              // placeholder of what is assigned or added
  std::string read, assign, add;  // to fetch, and to run
  bool resource = true;
};

/// Adds the ops to the graph, for each variable in it; only steps that use them are the slower for it. By the variable's name.
std::map<std::string, VariableOps> add_variable_ops(wire::GraphDef& graph);

}  // namespace troupe::embed
