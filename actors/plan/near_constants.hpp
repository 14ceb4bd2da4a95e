// Small constants on the devices where they are used.
#pragma once

#include <troupe/ops/graph.hpp>

namespace troupe {

/// Gives each device whose nodes use a small constant of another one a copy of its own, which no step has to send.
Status bring_constants_near(Graph& placed);

}  // namespace troupe
