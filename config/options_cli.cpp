// Walks the options table for CLI11.
#include <troupe/config/options_cli.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>

namespace troupe {
namespace {

template <class T>
CLI::Option* declare(CLI::App& app, const std::string& flag, T& place, const std::string& help) {
  return app.add_option(flag, place, help);
}

CLI::Option* declare(CLI::App& app, const std::string& flag, std::optional<int>& place, const std::string& help) {
  return app.add_option_function<int>(
      flag, [&place](const int& value) { place = value; }, help);
}

std::string help_of(const OptionRow& row) {
  std::string_view fallback = row.default_text;
  return fallback.empty() ? row.help : fmt::format("{} [{}]", row.help, fallback);
}

bool is_empty_option(std::string_view argument) {
  auto rows = node_option_rows();
  return std::any_of(rows.begin(), rows.end(), [&](const OptionRow& row) { return argument == fmt::format("--{}=", row.name); });
}

}  // namespace

void declare_options(CLI::App& app, NodeOptions& options) {
  for (const OptionRow& row : node_option_rows()) {
    std::string flag = std::string("--") + row.name;
    CLI::Option* option = std::visit([&](auto place) { return declare(app, flag, options.*place, help_of(row)); }, row.place);
    // Orchestrators append their own flags to an image's: the last one counts, as with TensorFlow's server.
    option->type_name(row.placeholder)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

std::vector<std::string> parsable_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i)
    if (!is_empty_option(argv[i])) arguments.emplace_back(argv[i]);
  return arguments;
}

}  // namespace troupe
