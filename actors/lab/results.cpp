// Files of a folder of results.
#include <troupe/actors/lab/results.hpp>

#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/summary/event_file.hpp>

namespace troupe::lab {
namespace {

std::string run_file(const std::string& folder, const Case& run) { return fmt::format("{}/runs/{}.json", folder, run.id()); }

/// Where relative paths of the spec begin, kept beside it so that a report can be made from anywhere.
constexpr const char* base_mark = "# paths begin at: ";

std::pair<std::string, std::string> split_base(const std::string& text) {
  if (!text.starts_with(base_mark)) return {"", text};
  const auto end = text.find('\n');
  const std::string mark = base_mark;
  return {text.substr(mark.size(), end - mark.size()), text};
}

/// The copy of a spec is called spec.yaml; its folder has the better name.
void name_after(const std::string& folder, Spec& spec) {
  const std::string name(base_name_of(folder));
  if (spec.title == spec.name && spec.name == "spec") spec.title = name;
  if (spec.name == "spec") spec.name = name;
}

Status write_events(const std::string& folder, const RunRecord& record) {
  const std::string directory = fmt::format("{}/events/{}", folder, record.id);
  TRY_ASSIGN(const auto file, EventFile::open({directory, "", 1 << 30, std::chrono::hours(1)}));
  for (const Point& point : record.curve) {
    wire::Event event = event_at(point.updates);
    event.set_wall_time(point.seconds);
    for (const auto& [tag, value] : {std::pair<const char*, double>{"score", point.score}, {"loss", point.loss}}) {
      auto* entry = event.mutable_summary()->add_value();
      entry->set_tag(tag);
      entry->set_simple_value(static_cast<float>(value));
    }
    TRY(file->write(event));
  }
  return file->flush();
}

}  // namespace

Status write_whole(const std::string& file, const std::string& content) {
  TRY(write_file(file + ".new", content));
  return rename_file(file + ".new", file);
}

StatusOr<Results> Results::create(const std::string& folder, const std::string& spec_text, const std::string& base) {
  const std::string file = folder + "/spec.yaml",
                    text = spec_text.starts_with(base_mark) ? spec_text : fmt::format("{}{}\n{}", base_mark, base, spec_text);
  if (file_exists(file)) {
    TRY_ASSIGN(const std::string before, read_file(file));
    if (before != text) return failed_precondition("{} has results of another spec; take another folder (--out), or delete it", folder);
  }
  Results results;
  results.folder_ = folder;
  TRY_ASSIGN(results.spec_, parse_spec(text, file, base));
  name_after(folder, results.spec_);
  TRY(make_directories(folder + "/runs"));
  TRY(write_whole(file, text));
  return results;
}

StatusOr<Results> Results::open(const std::string& folder) {
  const std::string file = folder + "/spec.yaml";
  if (!file_exists(file)) return not_found("{} is no folder of results: it has no spec.yaml", folder);
  TRY_ASSIGN(const std::string text, read_file(file));
  Results results;
  results.folder_ = folder;
  TRY_ASSIGN(results.spec_, parse_spec(text, file, split_base(text).first));
  name_after(folder, results.spec_);
  return results;
}

StatusOr<std::optional<RunRecord>> Results::find(const Case& run) const {
  const std::string file = run_file(folder_, run);
  if (!file_exists(file)) return std::optional<RunRecord>();
  TRY_ASSIGN(const std::string text, read_file(file));
  auto record = record_from_json(text);
  if (!record.ok()) return prepend_text(file + ": ", record.status());
  return std::optional<RunRecord>(*std::move(record));
}

Status Results::keep(const RunRecord& record) const { return write_whole(fmt::format("{}/runs/{}.json", folder_, record.id), to_json(record)); }

std::string Results::trace_file(const Case& run) const { return fmt::format("{}/runs/{}.trace", folder_, run.id()); }

StatusOr<std::vector<RunRecord>> Results::records() const {
  std::vector<RunRecord> all;
  for (const Case& run : cases_of(spec_)) {
    TRY_ASSIGN(auto record, find(run));
    if (record) all.push_back(*std::move(record));
  }
  return all;
}

StatusOr<std::size_t> Results::missing() const {
  TRY_ASSIGN(const auto there, records());
  return cases_of(spec_).size() - there.size();
}

Status write_report(const Results& results) {
  TRY_ASSIGN(const auto records, results.records());
  if (records.empty()) return failed_precondition("{}: no run is finished; troupe lab run goes on with it", results.folder());
  const std::string& folder = results.folder();
  TRY(write_whole(folder + "/runs.csv", runs_csv(records)));
  TRY(write_whole(folder + "/curves.csv", curves_csv(records)));
  TRY(write_whole(folder + "/results.json", summary_json(results.spec(), records)));
  TRY(write_whole(folder + "/report.html", report_html(results.spec(), records)));
  for (const RunRecord& record : records)
    if (!is_directory(fmt::format("{}/events/{}", folder, record.id))) TRY(write_events(folder, record));
  return absl::OkStatus();
}

}  // namespace troupe::lab
