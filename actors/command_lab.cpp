// `troupe lab`: experiments with the ways in which workers update parameters.
#include <troupe/actors/commands.hpp>
#include <troupe/actors/lab/control.hpp>
#include <troupe/actors/lab/experiments.hpp>
#include <troupe/actors/lab/laboratory.hpp>
#include <troupe/actors/lab/results.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

namespace troupe {
namespace {

int told(const Status& status) {
  if (!status.ok()) fmt::print(stderr, "troupe lab: {}\n", text_of(status));
  return status.ok() ? 0 : status.code() == Code::kInvalidArgument ? 2 : 1;
}

void list_experiments() {
  for (const auto& experiment : lab::experiments()) {
    const auto spec = lab::parse_spec(std::string(experiment.text), std::string(experiment.name), "");
    fmt::print("{:20} {}\n", experiment.name, spec.ok() ? spec->title : text_of(spec.status()));
  }
}

Status show_experiment(const std::string& name) {
  const auto* experiment = lab::find_experiment(name);
  if (!experiment) return invalid("no experiment '{}'; troupe lab list names them", name);
  fmt::print("{}", experiment->text);
  return absl::OkStatus();
}

Status report(const std::string& folder) {
  TRY_ASSIGN(const auto results, lab::Results::open(folder));
  TRY(lab::write_report(results));
  TRY_ASSIGN(const auto missing, results.missing());
  if (missing) fmt::print("{} runs are not finished; troupe lab run goes on with them\n", missing);
  fmt::print("{}/report.html\n", folder);
  return absl::OkStatus();
}

void declare_run(CLI::App& lab, const char* name, const char* help, bool trace, int& result) {
  auto* run = lab.add_subcommand(name, help);
  auto options = std::make_shared<lab::RunOptions>();
  options->trace = trace;
  run->add_option("SPEC", options->spec, "A YAML file, or the name of a built-in experiment")->required();
  run->add_option("--out", options->folder, "The folder of results; lab-<name> where not said")->type_name("DIR");
  run->add_flag("--quiet", options->quiet, "No progress");
  run->callback([options, &result] { result = told(lab::run(*options)); });
}

}  // namespace

void declare_lab(CLI::App& app, int& result) {
  auto* lab = app.add_subcommand("lab", "Experiments: asynchronous against synchronous updates");
  lab->require_subcommand(1);
  declare_run(*lab, "run", "Run all experiments of a spec and write a folder of results; goes on where it was interrupted", false, result);
  declare_run(*lab, "record", "The same, and write the order of all reads and updates for a replay", true, result);
  lab->add_subcommand("list", "The built-in experiments")->callback([] { list_experiments(); });
  auto name = std::make_shared<std::string>(), folder = std::make_shared<std::string>();
  auto* show = lab->add_subcommand("show", "Print the spec of a built-in experiment, to begin one's own with");
  show->add_option("NAME", *name)->required();
  show->callback([name, &result] { result = told(show_experiment(*name)); });
  auto mode = std::make_shared<std::string>();
  auto* again = lab->add_subcommand("replay", "Run a recorded run again, update by update, and compare its parameters bit for bit");
  again->add_option("DIR", *folder)->required();
  again->add_option("RUN", *name, "As in DIR/runs, w4_async_seed1 for instance")->required();
  again->callback([folder, name, &result] { result = told(lab::replay(*folder, *name)); });
  auto* change = lab->add_subcommand("set-mode", "Change the mode of the run that is under way in a folder of results");
  change->add_option("DIR", *folder)->required();
  change->add_option("MODE", *mode)->required();
  change->callback([folder, mode, &result] { result = told(lab::ask_for_mode(*folder, *mode)); });
  auto* page = lab->add_subcommand("report", "Write report.html, CSV and JSON files into a folder of results");
  page->add_option("DIR", *folder)->required();
  page->callback([folder, &result] { result = told(report(*folder)); });
}

}  // namespace troupe
