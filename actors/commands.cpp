// The list of subcommands.
#include <troupe/actors/commands.hpp>

namespace troupe {

std::string version() { return "troupe " TROUPE_VERSION; }

void declare_commands(CLI::App& app, int& result) {
  declare_node(app, result);
  declare_local(app, result);
  declare_doctor(app, result);
  declare_demo(app, result);
  declare_lab(app, result);
}

}  // namespace troupe
