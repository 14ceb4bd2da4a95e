// The options table, its command line, and the log level.
#include <troupe/config/options.hpp>
#include <troupe/config/options_cli.hpp>

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <limits>
#include <set>

namespace troupe {
namespace {

Environment with(std::string name, std::string value) {
  return [=](std::string_view asked) { return asked == name ? std::optional(value) : std::nullopt; };
}

/// Parses a command line; an empty text is success.
std::string parse(const std::vector<std::string>& arguments, NodeOptions& options) {
  CLI::App app;
  declare_options(app, options);
  std::vector<const char*> argv{"troupe"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  try {
    app.parse(parsable_arguments(static_cast<int>(argv.size()), argv.data()));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, EveryRowIsDeclaredAndExplained) {
  NodeOptions options;
  CLI::App app;
  declare_options(app, options);
  std::string help = app.help();
  std::set<std::string> names;
  for (const OptionRow& row : node_option_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    EXPECT_NE(help.find(fmt::format("--{} {}", row.name, row.placeholder)), std::string::npos) << row.name << "\n" << help;
    EXPECT_NE(help.find(row.default_text), std::string::npos) << row.name;
    EXPECT_FALSE(std::string(row.help).empty());
  }
}

TEST(Options, DefaultsInTheTableAreTheDefaults) {
  NodeOptions defaults;
  for (const OptionRow& row : node_option_rows()) {
    if (auto* place = std::get_if<int NodeOptions::*>(&row.place)) {
      EXPECT_EQ(std::to_string(defaults.**place), row.default_text);
    }
    if (auto* place = std::get_if<double NodeOptions::*>(&row.place)) {
      EXPECT_EQ(fmt::format("{}", defaults.**place), row.default_text);
    }
  }
}

TEST(Options, ReadsTheFlagsOfTensorFlowsServer) {
  NodeOptions options;
  EXPECT_EQ(parse({"--cluster_spec=ps|a:1;b:1,worker|c:1", "--job_name=worker", "--task_id=0", "--ps_hosts=a:1,b:1", "--worker_hosts", "c:1",
                   "--task_index", "2", "--grace=1.5", "--port=0", "--bind=[::1]:5", "--log_level=debug", "--spin_us=0", "--io_threads=3",
                   "--compute_threads=4", "--cpu_devices=3", "--protocol=grpc", "--owner_fd=5"},
                  options),
            "");
  EXPECT_EQ(options.cluster_spec, "ps|a:1;b:1,worker|c:1");
  EXPECT_EQ(options.job_name, "worker");
  EXPECT_EQ(options.task_id, 0);
  EXPECT_EQ(options.ps_hosts, "a:1,b:1");
  EXPECT_EQ(options.worker_hosts, "c:1");
  EXPECT_EQ(options.task_index, 2);
  EXPECT_EQ(options.grace, 1.5);
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.bind, "[::1]:5");
  EXPECT_EQ(options.log_level, "debug");
  EXPECT_EQ(options.spin_us, 0);
  EXPECT_EQ(options.io_threads, 3);
  EXPECT_EQ(options.compute_threads, 4);
  EXPECT_EQ(options.cpu_devices, 3);
  EXPECT_EQ(options.protocol, "grpc");
  EXPECT_EQ(options.owner_fd, 5);
}

TEST(Options, WhatIsNotGivenStaysAbsentAndTheLastOneCounts) {
  NodeOptions options;
  EXPECT_EQ(parse({}, options), "");
  EXPECT_FALSE(options.task_id || options.task_index || options.port);
  EXPECT_EQ(parse({"--task_id=1", "--job_name=a", "--task_id=2", "--job_name=b"}, options), "");
  EXPECT_EQ(options.task_id, 2);
  EXPECT_EQ(options.job_name, "b");
}

TEST(Options, AnEmptyValueCountsAsNotGiven) {
  NodeOptions options;
  EXPECT_EQ(parse({"--job_name=", "--task_id=3", "--ps_hosts=", "--port=", "--grace="}, options), "");
  EXPECT_EQ(options.job_name, "");
  EXPECT_EQ(options.task_id, 3);
  EXPECT_FALSE(options.port);
  EXPECT_EQ(options.grace, 0.5);
  EXPECT_NE(parse({"--job_name"}, options), "") << "a value that is missing altogether is an error";
}

TEST(Options, RefusesValuesOfTheWrongKind) {
  for (const char* argument :
       {"--task_id=x", "--port=x", "--grace=soon", "--io_threads=many", "--spin_us=1.5", "--nonsense=1", "--task_id=99999999999999"}) {
    NodeOptions options;
    EXPECT_NE(parse({argument}, options), "") << argument;
  }
}

TEST(Options, RefusesNumbersOutOfRange) {
  const std::pair<const char*, std::function<void(NodeOptions&)>> rows[] = {
      {"--task_id: -1 is out of range", [](NodeOptions& o) { o.task_id = -1; }},
      {"--task_index: -2 is out of range", [](NodeOptions& o) { o.task_index = -2; }},
      {"--port: 65536 is out of range; use a number from 0 to 65535", [](NodeOptions& o) { o.port = 65536; }},
      {"--owner_fd: -1", [](NodeOptions& o) { o.owner_fd = -1; }},
      {"--spin_us: -1", [](NodeOptions& o) { o.spin_us = -1; }},
      {"--io_threads: 0", [](NodeOptions& o) { o.io_threads = 0; }},
      {"--cpu_devices: 0", [](NodeOptions& o) { o.cpu_devices = 0; }},
      {"--compute_threads: 5000", [](NodeOptions& o) { o.compute_threads = 5000; }},
      {"--grace: -0.1", [](NodeOptions& o) { o.grace = -0.1; }},
      {"--grace: nan", [](NodeOptions& o) { o.grace = std::numeric_limits<double>::quiet_NaN(); }},
      {"--grace: inf", [](NodeOptions& o) { o.grace = std::numeric_limits<double>::infinity(); }},
      {"--metrics_secs: 0", [](NodeOptions& o) { o.metrics_secs = 0; }},
      {"--metrics_secs: nan", [](NodeOptions& o) { o.metrics_secs = std::numeric_limits<double>::quiet_NaN(); }},
  };
  EXPECT_TRUE(check_numbers({}).ok());
  for (const auto& [why, change] : rows) {
    NodeOptions options;
    change(options);
    EXPECT_EQ(text_of(check_numbers(options)).find(why), 0u) << check_numbers(options);
  }
}

TEST(Options, LogLevelFromFlagThenEnvironment) {
  NodeOptions options;
  auto none = with("", "");
  EXPECT_EQ(*resolve_log_level(options, none), LogLevel::info);
  const std::pair<const char*, LogLevel> numbers[] = {{"0", LogLevel::info},     {"1", LogLevel::warning}, {"2", LogLevel::error},
                                                      {"3", LogLevel::fatal},    {"9", LogLevel::fatal},   {"-1", LogLevel::info},
                                                      {"quiet", LogLevel::info}, {"", LogLevel::info}};
  for (const auto& [text, level] : numbers) EXPECT_EQ(*resolve_log_level(options, with("TF_CPP_MIN_LOG_LEVEL", text)), level) << text;
  const std::pair<const char*, LogLevel> names[] = {{"trace", LogLevel::trace}, {"debug", LogLevel::debug},    {"warn", LogLevel::warning},
                                                    {"error", LogLevel::error}, {"critical", LogLevel::fatal}, {"2", LogLevel::error}};
  for (const auto& [text, level] : names) {
    options.log_level = text;
    EXPECT_EQ(*resolve_log_level(options, with("TF_CPP_MIN_LOG_LEVEL", "3")), level) << text;
  }
  options.log_level = "loud";
  EXPECT_EQ(text_of(resolve_log_level(options, none).status()).find("--log_level: 'loud' is no level; use trace"), 0u);
}

}  // namespace
}  // namespace troupe
