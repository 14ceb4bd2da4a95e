// Logging of the program.
#pragma once

#include <troupe/config/options.hpp>

namespace troupe {

/// Logs to standard error from this level on.
void set_up_logging(LogLevel level);

}  // namespace troupe
