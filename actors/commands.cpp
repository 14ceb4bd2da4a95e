// The list of subcommands.
#include <troupe/actors/commands.hpp>

namespace troupe {

std::string version() { return "troupe " TROUPE_VERSION; }

void declare_commands(CLI::App& app, int& result) { declare_node(app, result); }

}  // namespace troupe
