// A folder of results: the spec, one record per run, and what is made of them.
#pragma once

#include <troupe/actors/lab/record.hpp>
#include <troupe/actors/lab/spec.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::lab {

/// DIR/spec.yaml, DIR/runs/<id>.json, and after a report DIR/report.html, runs.csv, curves.csv, results.json.
class Results {
 public:
  /// Makes the folder. One that has another spec already is refused: its runs would not belong together.
  static StatusOr<Results> create(const std::string& folder, const std::string& spec_text, const std::string& base);
  static StatusOr<Results> open(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const Spec& spec() const { return spec_; }
  /// Nothing when the run has not been finished.
  StatusOr<std::optional<RunRecord>> find(const Case& run) const;
  Status keep(const RunRecord& record) const;
  std::string trace_file(const Case& run) const;
  /// All finished runs in the spec's order.
  StatusOr<std::vector<RunRecord>> records() const;
  /// How many of the spec's runs are not there yet.
  StatusOr<std::size_t> missing() const;

 private:
  std::string folder_;
  Spec spec_;
};

/// Replaces the file in one step, so that an interruption leaves the old one or the new one.
Status write_whole(const std::string& file, const std::string& content);

std::string runs_csv(const std::vector<RunRecord>& records);
std::string curves_csv(const std::vector<RunRecord>& records);
/// Every mode with its means and margins.
std::string summary_json(const Spec& spec, const std::vector<RunRecord>& records);
/// The table for a terminal.
std::string summary_text(const Spec& spec, const std::vector<RunRecord>& records);
/// What can be read off the means: who reaches the target first, which number of backups is best.
std::vector<std::string> findings(const Spec& spec, const std::vector<RunRecord>& records);
/// One page with everything in it.
std::string report_html(const Spec& spec, const std::vector<RunRecord>& records);
/// Writes all of these, and event files for TensorBoard, into the folder.
Status write_report(const Results& results);

}  // namespace troupe::lab
