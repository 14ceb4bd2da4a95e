// The report: one page that needs nothing else.
#include <troupe/actors/lab/results.hpp>
#include <troupe/actors/lab/statistics.hpp>
#include <troupe/actors/lab/svg.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::lab {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2128; background: #fff; margin: 2rem auto; max-width: 1180px; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid #d5dae0; }
p.facts { color: #57606a; margin-top: 0; } .note { background: #f4f6f8; padding: .6rem 1rem; border-left: 4px solid #1f6fb4; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #e3e7eb; white-space: nowrap; }
th { color: #57606a; font-weight: 600; vertical-align: bottom; } th:first-child, td:first-child { text-align: left; } .wide { overflow-x: auto; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem 2rem; } figure { margin: 0; } figcaption { font-weight: 600; font-size: 14px; margin-bottom: .2rem; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #333a42; } svg text.label { fill: #57606a; }
svg text.faint { fill: #6e7781; font-style: italic; } .grid { stroke: #e3e7eb; } .axis { stroke: #8c959f; } .whisker { stroke: #111; stroke-width: 2; }
)";

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string table(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  for (const auto& h : heading) out += "<th>" + escaped(h) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const auto& c : row) out += cell(c);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

class Page {
 public:
  Page(const Spec& spec, const std::vector<RunRecord>& records) : spec_(spec), records_(records), groups_(groups_of(records)) {
    score_ = spec.data.kind == "regression" ? "explained variance" : "accuracy";
  }

  std::string html() const {
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\"><title>{}</title><style>{}</style></head><body>\n",
        escaped(spec_.title), style);
    out += heading();
    out += "<h2>Modes compared</h2>\n" + mode_table();
    out += "<h2>Learning</h2>\n<div class=\"plots\">" + learning() + "</div>\n";
    out += "<h2>Speed</h2>\n<div class=\"plots\">" + speed() + "</div>\n";
    out +=
        "<h2>Staleness</h2>\n<p>How many updates came between the reading of the parameters and the gradient computed from them.</p><div "
        "class=\"plots\">" +
        staleness() + "</div>\n";
    out += "<h2>Waiting</h2>\n<div class=\"plots\">" + waiting() + "</div>\n";
    out += changes();
    out += "<h2>All runs</h2>\n" + run_table();
    return out + "</body></html>\n";
  }

 private:
  std::string heading() const {
    std::vector<std::string> sizes;
    for (int w : spec_.workers) sizes.push_back(fmt::format("{}", w));
    std::string out = fmt::format("<h1>{}</h1>\n<p class=\"facts\">{} on {}, {} workers, {} ps, batches of {}, {} at rate {}; {}; {} seed{}.",
                                  escaped(spec_.title), spec_.model.kind, spec_.data.kind, fmt::join(sizes, " / "), spec_.ps, spec_.batch,
                                  spec_.optimizer.kind, spec_.optimizer.rate, stage_text(), spec_.seeds.size(), spec_.seeds.size() == 1 ? "" : "s");
    for (const Fault& f : spec_.faults) {
      if (f.slow != 1) out += fmt::format(" Worker {} is {} times as slow.", f.worker, short_number(f.slow));
      if (f.crash)
        out += fmt::format(" Worker {} crashes at {} s{}.", f.worker, *f.crash, f.back ? fmt::format(" and returns at {} s", *f.back) : "");
    }
    out += "</p>\n";
    if (!spec_.note.empty()) out += "<p class=\"note\">" + escaped(spec_.note) + "</p>\n";
    out += "<p><b>Measured here.</b> ";
    for (const auto& finding : findings(spec_, records_)) out += escaped(finding) + " ";
    const std::size_t planned = cases_of(spec_).size();
    if (records_.size() < planned) out += fmt::format("<b>{} of {} runs are not finished.</b>", planned - records_.size(), planned);
    return out + "</p>\n";
  }

  std::string stage_text() const {
    if (spec_.stage == Stage::processes) return "real time, node processes";
    if (spec_.stage == Stage::one_process) return "real time, all nodes in one process";
    return fmt::format("virtual time (computing: {}; network: {})", spec_.compute.describe(), spec_.network.describe());
  }

  std::string mode_table() const {
    std::vector<std::vector<std::string>> rows;
    for (const Group& g : groups_) {
      const Estimate reached = g.target_seconds();
      std::string when = reached.text(1);
      if (reached.count && reached.count < g.runs.size()) when += fmt::format(" ({} of {})", reached.count, g.runs.size());
      rows.push_back({g.name, fmt::format("{}", g.runs.size()), g.final_score().text(3), when, g.seconds_per_update().text(3),
                      g.gradients_per_second().text(1), g.mean_staleness().text(1), fmt::format("{}", g.stalest()), percent(g.dropped_share()),
                      percent(g.utilisation().mean), percent(g.waiting_share().mean)});
    }
    return table({"mode", "runs", "final " + score_, spec_.target ? fmt::format("s to {}", *spec_.target) : "s to target", "s per update",
                  "gradients per s", "mean staleness", "most", "dropped", "computing", "waiting"},
                 rows) +
           "<p class=\"facts\">Means over seeds with half of the 95 % confidence interval (Student's t).</p>\n";
  }

  std::string learning() const {
    std::vector<Line> by_time, by_updates;
    for (const Group& g : groups_) {
      by_time.push_back({g.name, g.curve(false)});
      by_updates.push_back({g.name, g.curve(true)});
    }
    // One update per gradient against one per round: fewer than a tenth would be seen of some.
    double least = INFINITY, most = 0;
    for (const Line& line : by_updates)
      if (!line.points.empty()) {
        least = std::min(least, line.points.back().first);
        most = std::max(most, line.points.back().first);
      }
    const bool wide = most > 10 * least;
    return line_plot({"Test " + score_ + " against time", "seconds", score_}, by_time) +
           line_plot({"Test " + score_ + " against updates", wide ? "updates (logarithmic)" : "updates", score_, wide}, by_updates);
  }

  std::string speed() const {
    std::vector<Bar> target, step, throughput, dropped;
    for (const Group& g : groups_) {
      const Estimate when = g.target_seconds(), length = g.seconds_per_update(), rate = g.gradients_per_second();
      target.push_back({g.name, when.mean, when.margin, when.count ? "" : "never reached"});
      step.push_back({g.name, length.mean, length.margin, ""});
      throughput.push_back({g.name, rate.mean, rate.margin, ""});
      dropped.push_back({g.name, 100 * g.dropped_share(), 0, ""});
    }
    std::string out;
    if (spec_.target) out += bar_plot({fmt::format("Time to {} {}", score_, *spec_.target), "seconds", ""}, target);
    return out + bar_plot({"Time per update", "seconds", ""}, step) + bar_plot({"Throughput", "gradients applied per second", ""}, throughput) +
           bar_plot({"Gradients dropped", "% of those computed", ""}, dropped);
  }

  /// At most 24 columns, each of as many values as it takes.
  static std::vector<Bar> columns_of(const StalenessCounts& counts) {
    const std::int64_t most = counts.empty() ? 0 : counts.rbegin()->first, width = most / 24 + 1;
    std::vector<Bar> columns;
    for (std::int64_t from = 0; from <= most; from += width) columns.push_back({fmt::format("{}", from), 0, 0, ""});
    for (const auto& [staleness, count] : counts) columns[static_cast<std::size_t>(staleness / width)].value += static_cast<double>(count);
    return columns;
  }

  std::string staleness() const {
    std::string out;
    std::vector<std::string> fresh;
    for (const Group& g : groups_)
      if (g.stalest() == 0) fresh.push_back(escaped(g.name));
    if (!fresh.empty()) out += fmt::format("<p style=\"width: 100%; margin: 0\">Always 0: {}.</p>", fmt::join(fresh, "; "));
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (groups_[i].stalest() > 0) out += histogram_plot({groups_[i].name, "staleness", "gradients"}, columns_of(groups_[i].staleness()), i);
    for (const Group& g : groups_)
      if (g.stalest() > 0) out += by_worker(g) + by_variable(g);
    return out;
  }

  std::string by_worker(const Group& g) const {
    const auto columns = columns_of(g.staleness());
    const std::int64_t width = g.stalest() / 24 + 1;
    std::vector<std::string> rows, names;
    std::vector<std::vector<double>> cells(static_cast<std::size_t>(g.workers), std::vector<double>(columns.size()));
    for (const Bar& c : columns) names.push_back(c.name);
    for (int w = 0; w < g.workers; ++w) rows.push_back(fmt::format("{}", w));
    for (const RunRecord* run : g.runs)
      for (std::size_t w = 0; w < run->each_worker.size(); ++w)
        for (const auto& [staleness, count] : run->each_worker[w].staleness)
          cells[w][static_cast<std::size_t>(staleness / width)] += static_cast<double>(count);
    return heat_map({"By worker: " + g.name, "staleness", "worker"}, rows, names, cells);
  }

  std::string by_variable(const Group& g) const {
    std::map<std::string, StalenessCounts> all;
    StalenessCounts together;
    for (const RunRecord* run : g.runs)
      for (const auto& [name, counts] : run->staleness)
        for (const auto& [staleness, count] : counts) {
          all[name][staleness] += count;
          together[staleness] += count;
        }
    const auto columns = columns_of(together);
    const std::int64_t width = together.empty() ? 1 : together.rbegin()->first / 24 + 1;
    std::vector<std::string> rows, names;
    std::vector<std::vector<double>> cells;
    for (const Bar& c : columns) names.push_back(c.name);
    for (const auto& [name, counts] : all) {
      rows.push_back(name);
      auto& row = cells.emplace_back(columns.size());
      for (const auto& [staleness, count] : counts) row[static_cast<std::size_t>(staleness / width)] += static_cast<double>(count);
    }
    return heat_map({"By variable: " + g.name, "staleness", ""}, rows, names, cells);
  }

  std::string waiting() const {
    std::vector<Stack> stacks;
    for (const Group& g : groups_) {
      double computing = 0, sending = 0, waiting = 0, whole = 0;
      for (const RunRecord* run : g.runs) {
        whole += run->seconds * run->workers;
        for (const auto& w : run->each_worker) {
          computing += w.computing;
          sending += w.sending;
          waiting += w.waiting;
        }
      }
      if (whole > 0) stacks.push_back({g.name, {computing / whole, sending / whole, waiting / whole}});
    }
    std::string out =
        stack_plot({"How workers spent their time", "share of all workers' time", ""}, {"computing", "reading and sending", "waiting"}, stacks);
    for (const Group& g : groups_) out += who_for_whom(g);
    return out;
  }

  std::string who_for_whom(const Group& g) const {
    std::vector<std::string> names;
    for (int w = 0; w < g.workers; ++w) names.push_back(fmt::format("{}", w));
    std::vector<std::vector<double>> cells(names.size(), std::vector<double>(names.size()));
    for (const RunRecord* run : g.runs)
      for (std::size_t w = 0; w < run->each_worker.size(); ++w)
        for (const auto& [whom, seconds] : run->each_worker[w].waited_for) cells[w][static_cast<std::size_t>(whom)] += seconds;
    if (g.workers > 100) return "";
    return heat_map({"Who waited for whom: " + g.name, "waited for", "worker"}, names, names, cells);
  }

  std::string changes() const {
    std::vector<std::vector<std::string>> rows;
    for (const RunRecord& r : records_)
      if (r.changes.size() > 1)
        for (const ModeChange& c : r.changes) rows.push_back({r.id, short_number(c.seconds), fmt::format("{}", c.updates), c.mode});
    if (rows.empty()) return "";
    return "<h2>Changes of mode</h2>\n" + table({"run", "at second", "after updates", "mode"}, rows);
  }

  std::string run_table() const {
    std::vector<std::vector<std::string>> rows;
    for (const RunRecord& r : records_)
      rows.push_back({r.id, r.ended, short_number(r.seconds), fmt::format("{}", r.counts.updates), fmt::format("{}", r.counts.computed),
                      fmt::format("{}", r.counts.applied), fmt::format("{}", r.counts.dropped), fmt::format("{}", r.counts.lost),
                      fmt::format("{}", r.in_flight), fmt::format("{:.4f}", r.final_score()),
                      r.target_seconds ? short_number(*r.target_seconds) : "-", r.parameters});
    return table({"run", "ended by", "seconds", "updates", "computed", "applied", "dropped", "lost", "in flight", "final " + score_, "s to target",
                  "parameters"},
                 rows) +
           "<p class=\"facts\">computed = applied + dropped + lost + in flight; the last column is a fingerprint of the parameters.</p>\n";
  }

  const Spec& spec_;
  const std::vector<RunRecord>& records_;
  std::vector<Group> groups_;
  std::string score_;
};

}  // namespace

std::string report_html(const Spec& spec, const std::vector<RunRecord>& records) { return Page(spec, records).html(); }

}  // namespace troupe::lab
