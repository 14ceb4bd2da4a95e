// The options table as options of a command line.
#pragma once

#include <troupe/config/options.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace troupe {

/// Declares every row of the table on `app`; parsing writes to `options`, which must live as long as `app`.
void declare_options(CLI::App& app, NodeOptions& options);

/// The arguments after the program's name, ready for CLI::App::parse (which takes them last one first). An option of
/// the table with an empty value, `--job_name=`, counts as not given and is left out; CLI11 would take the next
/// argument for its value.
std::vector<std::string> parsable_arguments(int argc, const char* const* argv);

}  // namespace troupe
