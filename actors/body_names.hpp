// Nodes of functions by the names they have in their own bodies, which is how errors of datasets' functions name them.
#pragma once

#include <troupe/ops/graph.hpp>

#include <string>

namespace troupe {

/// A node of a function into which others have been lowered, as the innermost body calls it.
std::string name_in_body(const FunctionLibrary& library, const std::string& function, std::string lowered);
/// The same in a status that names such a node.
Status named_by_body(const FunctionLibrary& library, const std::string& function, const Status& status);

}  // namespace troupe
