// Models through the session of a service, whatever server it talks to.
#pragma once

#include <troupe/messaging/status.hpp>

#include <string>

namespace troupe::models {

/// Trains a model, reads and writes a variable, makes mistakes and cancels a step; prints what came. The target is "grpc://host:port", or
/// "here" for a node in this process.
Status await_steps(const std::string& model, const std::string& target);

}  // namespace troupe::models
