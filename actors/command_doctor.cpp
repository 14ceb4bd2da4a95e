// `troupe doctor`: explains a TF_CONFIG or flags, and which peers answer.
#include <troupe/actors/commands.hpp>
#include <troupe/actors/probe.hpp>
#include <troupe/config/explain.hpp>
#include <troupe/config/options_cli.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>

namespace troupe {

void declare_doctor(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("doctor", "Explain TF_CONFIG and flags: what this task is, what is wrong, which peers answer");
  auto options = std::make_shared<NodeOptions>();
  declare_options(*command, *options);
  command->callback([options, &result] {
    const auto patience = std::chrono::milliseconds(1000);
    const Account account = explain(
        *options, process_environment(), [patience](const std::string& address) { return probe(address, patience); },
        [patience](const std::string& address) { return road_to(address, patience); });
    fmt::print("{}\n", render(account));
    std::fflush(stdout);
    result = account.has_errors() ? 1 : 0;
  });
}

}  // namespace troupe
