// The subcommands of the program.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace troupe {

std::string version();

/// Adds every subcommand; `result` gets the exit code of the one that runs.
void declare_commands(CLI::App& app, int& result);

// One each, in a file of its own.
void declare_node(CLI::App& app, int& result);
void declare_local(CLI::App& app, int& result);
void declare_doctor(CLI::App& app, int& result);
void declare_demo(CLI::App& app, int& result);
void declare_lab(CLI::App& app, int& result);

}  // namespace troupe
