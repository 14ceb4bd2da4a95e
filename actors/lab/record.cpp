// Records of runs as JSON.
#include <troupe/actors/lab/record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::lab {
namespace {

using Json = nlohmann::json;

Json counts_json(const StalenessCounts& counts) {
  Json out = Json::array();
  for (const auto& [staleness, count] : counts) out.push_back({staleness, count});
  return out;
}

StalenessCounts counts_from(const Json& json) {
  StalenessCounts out;
  for (const auto& pair : json) out[pair.at(0)] = pair.at(1);
  return out;
}

Json worker_json(const WorkerRecord& w) {
  Json waited = Json::array();
  for (const auto& [whom, seconds] : w.waited_for) waited.push_back({whom, seconds});
  return {{"computing", w.computing}, {"sending", w.sending}, {"waiting", w.waiting}, {"computed", w.computed},
          {"applied", w.applied},     {"dropped", w.dropped}, {"lost", w.lost},       {"staleness", counts_json(w.staleness)},
          {"waited_for", waited}};
}

WorkerRecord worker_from(const Json& j) {
  WorkerRecord w{j.at("computing"),
                 j.at("sending"),
                 j.at("waiting"),
                 j.at("computed"),
                 j.at("applied"),
                 j.at("dropped"),
                 j.at("lost"),
                 counts_from(j.at("staleness")),
                 {}};
  for (const auto& pair : j.at("waited_for")) w.waited_for[pair.at(0)] = pair.at(1);
  return w;
}

double sum_of(const std::vector<WorkerRecord>& workers, double WorkerRecord::*member) {
  double sum = 0;
  for (const auto& w : workers) sum += w.*member;
  return sum;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// JSON has no numbers that are not finite; a run that diverged has them.
double number_from(const Json& json) { return json.is_null() ? std::nan("") : json.get<double>(); }

}  // namespace

double RunRecord::mean_staleness() const {
  double sum = 0, n = 0;
  for (const auto& w : each_worker)
    for (const auto& [staleness, count] : w.staleness) {
      sum += static_cast<double>(staleness * count);
      n += static_cast<double>(count);
    }
  return share(sum, n);
}

std::int64_t RunRecord::stalest() const {
  std::int64_t most = 0;
  for (const auto& w : each_worker)
    if (!w.staleness.empty()) most = std::max(most, w.staleness.rbegin()->first);
  return most;
}

double RunRecord::utilisation() const { return share(sum_of(each_worker, &WorkerRecord::computing), seconds * workers); }
double RunRecord::waiting_share() const { return share(sum_of(each_worker, &WorkerRecord::waiting), seconds * workers); }

std::string to_json(const RunRecord& r) {
  Json j{{"id", r.id},
         {"mode", r.mode},
         {"stage", r.stage},
         {"workers", r.workers},
         {"seed", r.seed},
         {"ended", r.ended},
         {"seconds", r.seconds},
         {"updates", r.counts.updates},
         {"computed", r.counts.computed},
         {"applied", r.counts.applied},
         {"dropped", r.counts.dropped},
         {"lost", r.counts.lost},
         {"in_flight", r.in_flight},
         {"parameters", r.parameters},
         {"log", r.log}};
  if (r.target_seconds) j["target_seconds"] = *r.target_seconds;
  if (r.target_updates) j["target_updates"] = *r.target_updates;
  j["curve"] = Json::array();
  for (const Point& p : r.curve) j["curve"].push_back({p.seconds, p.updates, p.gradients, p.loss, p.score});
  j["each_worker"] = Json::array();
  for (const auto& w : r.each_worker) j["each_worker"].push_back(worker_json(w));
  j["staleness"] = Json::object();
  for (const auto& [name, counts] : r.staleness) j["staleness"][name] = counts_json(counts);
  j["changes"] = Json::array();
  for (const auto& c : r.changes) j["changes"].push_back({c.seconds, c.updates, c.mode});
  return j.dump(1) + "\n";
}

StatusOr<RunRecord> record_from_json(const std::string& text) {
  try {
    const Json j = Json::parse(text);
    RunRecord r;
    r.id = j.at("id");
    r.mode = j.at("mode");
    r.stage = j.at("stage");
    r.workers = j.at("workers");
    r.seed = j.at("seed");
    r.ended = j.at("ended");
    r.seconds = j.at("seconds");
    r.counts = {j.at("computed"), j.at("applied"), j.at("dropped"), j.at("lost"), j.at("updates")};
    r.in_flight = j.at("in_flight");
    r.parameters = j.at("parameters");
    r.log = j.at("log");
    if (j.contains("target_seconds")) r.target_seconds = j.at("target_seconds");
    if (j.contains("target_updates")) r.target_updates = j.at("target_updates");
    for (const auto& p : j.at("curve")) r.curve.push_back({p.at(0), p.at(1), p.at(2), number_from(p.at(3)), number_from(p.at(4))});
    for (const auto& w : j.at("each_worker")) r.each_worker.push_back(worker_from(w));
    for (const auto& [name, counts] : j.at("staleness").items()) r.staleness[name] = counts_from(counts);
    for (const auto& c : j.at("changes")) r.changes.push_back({c.at(0), c.at(1), c.at(2)});
    return r;
  } catch (const Json::exception& e) {
    return data_loss("not a record of a run: {}", e.what());
  }
}

}  // namespace troupe::lab
