// The order of a spec's runs, and what the terminal shows of them.
#include <troupe/actors/lab/laboratory.hpp>

#include <troupe/actors/lab/control.hpp>
#include <troupe/actors/lab/experiments.hpp>
#include <troupe/actors/lab/real_time.hpp>
#include <troupe/actors/lab/results.hpp>
#include <troupe/actors/lab/simulation.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <unistd.h>

#include <cstdio>
#include <memory>

namespace troupe::lab {
namespace {

struct Source {
  std::string text, file, folder;
};

StatusOr<Source> find_source(const std::string& name) {
  if (file_exists(name) && !is_directory(name)) {
    TRY_ASSIGN(std::string text, read_file(name));
    return Source{std::move(text), name, std::string(directory_of(name))};
  }
  if (const auto* experiment = find_experiment(name)) return Source{std::string(experiment->text), name, ""};
  std::vector<std::string_view> names;
  for (const auto& experiment : experiments()) names.push_back(experiment.name);
  return invalid("{} is neither a file nor a built-in experiment; there are {}", name, fmt::join(names, ", "));
}

/// One line per run that grows while it runs; on something else than a terminal, only how each ended.
class Display {
 public:
  Display(bool quiet, std::size_t runs) : quiet_(quiet), terminal_(isatty(STDOUT_FILENO)), runs_(runs) {}

  void begin(const std::string& id) {
    id_ = id;
    ++number_;
  }
  void show(const Progress& p) {
    if (quiet_ || !terminal_) return;
    constexpr int width = 24;
    const int filled = static_cast<int>(p.share * width);
    fmt::print("\r\x1b[K[{}{}] {:3}/{} {}  update {}  loss {:.3f}  score {:.3f}  staleness {:.1f}  {}",
               std::string(static_cast<std::size_t>(filled), '#'), std::string(static_cast<std::size_t>(width - filled), '.'), number_, runs_, id_,
               p.updates, p.loss, p.score, p.staleness, p.mode);
    std::fflush(stdout);
  }
  void end(const RunRecord& r, bool before) {
    if (quiet_) return;
    fmt::print("{}{:3}/{} {}  {} updates in {:.4g} s, score {:.3f}, {}{}\n", terminal_ ? "\r\x1b[K" : "", number_, runs_, id_, r.counts.updates,
               r.seconds, r.final_score(), r.ended, before ? " (done before)" : "");
    std::fflush(stdout);
  }

 private:
  bool quiet_, terminal_;
  std::size_t runs_, number_ = 0;
  std::string id_;
};

StatusOr<RunRecord> run_one(const Spec& spec, const Case& run, const Data& data, const RunHooks& hooks) {
  return spec.stage == Stage::virtual_time ? simulate(spec, run, data, hooks) : run_in_real_time(spec, run, data, hooks);
}

}  // namespace

Status run(const RunOptions& options) {
  TRY_ASSIGN(const Source source, find_source(options.spec));
  TRY_ASSIGN(const Spec checked, parse_spec(source.text, source.file, source.folder));
  TRY_ASSIGN(const Data data, load_data(checked.data));
  TRY(build_model(checked.model, data, 0).status());
  const std::string folder = options.folder.empty() ? "lab-" + checked.name : options.folder;
  TRY_ASSIGN(const Results results, Results::create(folder, source.text, source.folder));
  const Spec& spec = checked;
  const auto cases = cases_of(spec);
  Display display(options.quiet, cases.size());
  TRY_ASSIGN(const auto presence, Presence::announce(folder));
  for (const Case& each : cases) {
    display.begin(each.id());
    TRY_ASSIGN(auto record, results.find(each));
    const bool before = record.has_value();
    if (!before) {
      RunHooks hooks{[&](const Progress& p) { display.show(p); }, nullptr, [&] { return take_asked_mode(folder); }};
      std::unique_ptr<std::FILE, int (*)(std::FILE*)> trace(options.trace ? std::fopen(results.trace_file(each).c_str(), "w") : nullptr,
                                                            [](std::FILE* f) { return f ? std::fclose(f) : 0; });
      hooks.trace = trace.get();
      auto made = run_one(spec, each, data, hooks);
      if (!made.ok()) return prepend_text(each.id() + ": ", made.status());
      record = *std::move(made);
      TRY(results.keep(*record));
    }
    display.end(*record, before);
  }
  TRY(write_report(results));
  TRY_ASSIGN(const auto records, results.records());
  fmt::print("\n{}\n{}\n", spec.title, summary_text(spec, records));
  for (const auto& finding : findings(spec, records)) fmt::print("{}\n", finding);
  fmt::print("Report: {}/report.html\n", folder);
  return absl::OkStatus();
}

}  // namespace troupe::lab
