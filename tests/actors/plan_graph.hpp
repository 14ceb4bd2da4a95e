// Small graphs written as text, one node a line, and the cluster that tests of planning share.
#pragma once

#include <troupe/ops/graph.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::testing {

/// Reads lines of the form `name = Op(input, input:1, ^control) @device [class, class] attr=value …`; all but name and op may
/// be left out. Values are DT_…, numbers, true, false, "text", `shape` (a scalar's) or `{text format of an AttrValue}`. `T` and
/// `dtype` are DT_FLOAT where the op has such an attribute and nothing is said; a Const is 1 or what its `v=` says.
wire::GraphDef graph_def(std::string_view text);
Graph graph_of(std::string_view text);

/// "ps1" for "/job:ps/replica:0/task:1/device:CPU:0"; other names as they are.
std::string short_name(const std::string& device);
/// "/job:ps/replica:0/task:1/device:CPU:0" for "ps1".
std::string long_name(const std::string& name);
/// Two of each, this task being worker0.
std::vector<std::string> all_devices();

}  // namespace troupe::testing
