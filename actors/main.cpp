// The program `troupe`.
#include <troupe/actors/commands.hpp>
#include <troupe/config/options_cli.hpp>

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app{"TensorFlow's distributed runtime as a company of actors", "troupe"};
  app.set_version_flag("--version", troupe::version());
  app.require_subcommand(1);
  int result = 0;
  troupe::declare_commands(app, result);
  try {
    app.parse(troupe::parsable_arguments(argc, argv));
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  }
  return result;
}
