// Models that the tests build in C++ and run on Troupe and on TensorFlow.
#pragma once

#include <troupe/wire/meta_graph.pb.h>
#include <troupe/messaging/status.hpp>

#include <string>
#include <vector>

namespace troupe::models {

/// A graph under agreed names: placeholders "x" and "y", "loss", "accuracy" where there are classes, ops "init" and "train". Collections say more:
/// "xs" what the loss was differentiated by, "grads" the outputs in the same order ("values|indices" for rows).
StatusOr<wire::MetaGraphDef> network(const std::string& name);
std::vector<std::string> network_names();

}  // namespace troupe::models
