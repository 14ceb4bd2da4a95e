// Results as CSV, JSON and text.
#include <troupe/actors/lab/results.hpp>
#include <troupe/actors/lab/statistics.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe::lab {
namespace {

using Json = nlohmann::json;

Json estimate_json(const Estimate& e) {
  if (e.count == 0) return nullptr;
  return {{"mean", e.mean}, {"margin", e.margin}, {"runs", e.count}};
}

std::string optional_text(const auto& value) { return value ? fmt::format("{}", *value) : ""; }

/// Columns as wide as their widest cell; letters, not bytes, count.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  auto letters = [](const std::string& s) {
    return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> width(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], letters(row[i]));
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(width[i] - letters(row[i]), ' ');
      out += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    out += "\n";
  }
  return out;
}

const Group* best(const std::vector<Group>& groups, auto&& measure) {
  const Group* found = nullptr;
  for (const Group& g : groups)
    if (measure(g).count && (!found || measure(g).mean < measure(*found).mean)) found = &g;
  return found;
}

}  // namespace

std::string runs_csv(const std::vector<RunRecord>& records) {
  std::string out =
      "id,mode,workers,seed,stage,ended,seconds,updates,computed,applied,dropped,lost,in_flight,final_score,target_seconds,target_updates,"
      "seconds_per_update,gradients_per_second,mean_staleness,max_staleness,utilisation,waiting,parameters,log\n";
  for (const RunRecord& r : records)
    out += fmt::format("{},\"{}\",{},{},{},\"{}\",{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.id, r.mode, r.workers, r.seed, r.stage,
                       r.ended, r.seconds, r.counts.updates, r.counts.computed, r.counts.applied, r.counts.dropped, r.counts.lost, r.in_flight,
                       r.final_score(), optional_text(r.target_seconds), optional_text(r.target_updates), r.seconds_per_update(),
                       r.gradients_per_second(), r.mean_staleness(), r.stalest(), r.utilisation(), r.waiting_share(), r.parameters, r.log);
  return out;
}

std::string curves_csv(const std::vector<RunRecord>& records) {
  std::string out = "id,seconds,updates,gradients,loss,score\n";
  for (const RunRecord& r : records)
    for (const Point& p : r.curve) out += fmt::format("{},{},{},{},{},{}\n", r.id, p.seconds, p.updates, p.gradients, p.loss, p.score);
  return out;
}

std::string summary_json(const Spec& spec, const std::vector<RunRecord>& records) {
  Json out{
      {"name", spec.name}, {"title", spec.title}, {"stage", name_of(spec.stage)}, {"modes", Json::array()}, {"findings", findings(spec, records)}};
  if (spec.target) out["target"] = *spec.target;
  for (const Group& g : groups_of(records))
    out["modes"].push_back({{"mode", g.mode},
                            {"workers", g.workers},
                            {"runs", g.runs.size()},
                            {"final_score", estimate_json(g.final_score())},
                            {"target_seconds", estimate_json(g.target_seconds())},
                            {"seconds_per_update", estimate_json(g.seconds_per_update())},
                            {"gradients_per_second", estimate_json(g.gradients_per_second())},
                            {"mean_staleness", estimate_json(g.mean_staleness())},
                            {"max_staleness", g.stalest()},
                            {"dropped", g.dropped_share()},
                            {"utilisation", estimate_json(g.utilisation())},
                            {"waiting", estimate_json(g.waiting_share())}});
  return out.dump(1) + "\n";
}

std::string summary_text(const Spec& spec, const std::vector<RunRecord>& records) {
  std::vector<std::vector<std::string>> rows{{"mode", "final score", spec.target ? fmt::format("s to {}", *spec.target) : "s to target", "s/update",
                                              "gradients/s", "staleness", "dropped", "busy", "waiting"}};
  for (const Group& g : groups_of(records)) {
    const Estimate reached = g.target_seconds();
    std::string when = reached.text(1);
    if (reached.count && reached.count < g.runs.size()) when += fmt::format(" ({} of {})", reached.count, g.runs.size());
    rows.push_back({g.name, g.final_score().text(3), when, g.seconds_per_update().text(3), g.gradients_per_second().text(1),
                    g.mean_staleness().text(1), fmt::format("{:.1f} %", 100 * g.dropped_share()), fmt::format("{:.0f} %", 100 * g.utilisation().mean),
                    fmt::format("{:.0f} %", 100 * g.waiting_share().mean)});
  }
  return aligned(rows);
}

std::vector<std::string> findings(const Spec& spec, const std::vector<RunRecord>& records) {
  std::vector<std::string> out;
  const auto groups = groups_of(records);
  if (spec.target) {
    std::size_t never = 0;
    for (const Group& g : groups) never += g.target_seconds().count == 0;
    if (const Group* first = best(groups, [](const Group& g) { return g.target_seconds(); }))
      out.push_back(fmt::format("{} reaches {} first, after {} s.", first->name, *spec.target, first->target_seconds().text(1)));
    if (never) out.push_back(fmt::format("{} of {} reach {} in no run.", never, groups.size(), *spec.target));
  }
  std::vector<Group> rounds;
  for (const Group& g : groups)
    if (g.mode.starts_with("sync") || g.mode == "auto") rounds.push_back(g);
  if (rounds.size() > 1) {
    const Group* fastest = best(rounds, [](const Group& g) { return g.seconds_per_update(); });
    const Group* soonest = best(rounds, [](const Group& g) { return g.target_seconds(); });
    out.push_back(
        fmt::format("Of the synchronous ones {} has the shortest step, {} s{}.", fastest->name, fastest->seconds_per_update().text(3),
                    soonest ? fmt::format("; {} reaches the target soonest, after {} s", soonest->name, soonest->target_seconds().text(1)) : ""));
  }
  if (const Group* good = best(groups, [](const Group& g) {
        Estimate e = g.final_score();
        e.mean = -e.mean;
        return e;
      }))
    out.push_back(fmt::format("The best final score is that of {}: {}.", good->name, good->final_score().text(3)));
  return out;
}

}  // namespace troupe::lab
