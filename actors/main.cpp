// The program `troupe`.
#include <troupe/actors/commands.hpp>
#include <troupe/config/options_cli.hpp>

#include <malloc.h>
#include <CLI/CLI.hpp>

namespace {

/// Fresh pages cost more than what most kernels do with them: memory of tensors is kept for the next ones.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory();
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
