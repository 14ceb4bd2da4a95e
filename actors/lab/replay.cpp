// Replays: a trace is followed line by line, so that every gradient sees the parameters that it saw before.
#include <troupe/actors/lab/engine.hpp>
#include <troupe/actors/lab/laboratory.hpp>
#include <troupe/actors/lab/results.hpp>
#include <troupe/actors/lab/trainer.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace troupe::lab {
namespace {

class Replay {
 public:
  Replay(const Spec& spec, const Case& run, const Data& data, const Model& model)
      : spec_(spec), run_(run), data_(data), model_(model), reads_(static_cast<std::size_t>(run.workers)) {}

  Status open() {
    for (int s = 0; s < spec_.ps; ++s) {
      const auto which = parameters_of_shard(model_, s, spec_.ps);
      TRY_ASSIGN(auto graph, build_shard(model_, which, spec_.optimizer));
      TRY_ASSIGN(auto engine, Engine::open(std::move(graph)));
      TRY_ASSIGN(auto shard, Shard::open(model_, which, std::move(engine)));
      shards_.push_back(std::move(shard));
    }
    TRY_ASSIGN(auto engine, Engine::open(model_.graph));
    learner_ = std::make_unique<Learner>(model_, std::move(engine));
    return absl::OkStatus();
  }

  Status follow(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "read") return read(words);
    if (what == "compute") return compute(words);
    if (what == "apply") return apply(words);
    if (what == "drop" || what == "lose") {
      std::int64_t number = 0;
      if (!(words >> number) || !gradients_.erase(number)) return data_loss("gradient {} does not exist", number);
      return absl::OkStatus();
    }
    if (what == "end") words >> end_;
    return what == "end" || what == "mode" ? absl::OkStatus() : data_loss("'{}' is unknown", what);
  }

  std::int64_t updates() const { return shards_[0]->version(); }
  const std::string& recorded_end() const { return end_; }
  StatusOr<std::string> end() {
    Parameters all;
    for (auto& shard : shards_) TRY(shard->read(all));
    return fmt::format("{:016x}", fingerprint(all));
  }

 private:
  Status read(std::istringstream& words) {
    std::size_t worker = 0, shard = 0;
    if (!(words >> worker >> shard) || worker >= reads_.size() || shard >= shards_.size()) return data_loss("no such worker or shard");
    return shards_[shard]->read(reads_[worker]);
  }
  Status compute(std::istringstream& words) {
    std::int64_t number = 0, batch = 0;
    std::size_t worker = 0;
    if (!(words >> number >> worker >> batch) || worker >= reads_.size()) return data_loss("no such worker");
    TRY_ASSIGN(gradients_[number],
               learner_->gradient(reads_[worker], batch_of(data_.train, spec_.batch, run_.seed, static_cast<int>(worker), batch)));
    if (!std::isfinite(gradients_[number].loss))
      fmt::print("The loss of gradient {} (worker {}, batch {}) is {}, after {} updates\n", number, worker, batch, gradients_[number].loss,
                 updates());
    return absl::OkStatus();
  }
  Status apply(std::istringstream& words) {
    std::string scale;
    words >> scale;
    std::vector<const Gradient*> some;
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = 0; words >> number;) {
      const auto found = gradients_.find(number);
      if (found == gradients_.end()) return data_loss("gradient {} does not exist", number);
      some.push_back(&found->second);
      numbers.push_back(number);
    }
    if (some.empty()) return data_loss("an update of nothing");
    const Gradient mean = mean_of(model_, some);
    for (auto& shard : shards_) TRY(shard->apply(mean, spec_.optimizer.rate * std::strtod(scale.c_str(), nullptr)));
    for (std::int64_t number : numbers) gradients_.erase(number);
    return absl::OkStatus();
  }

  const Spec& spec_;
  const Case& run_;
  const Data& data_;
  const Model& model_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Learner> learner_;
  std::vector<Parameters> reads_;
  std::map<std::int64_t, Gradient> gradients_;
  std::string end_;
};

}  // namespace

Status replay(const std::string& folder, const std::string& run) {
  TRY_ASSIGN(const Results results, Results::open(folder));
  const auto cases = cases_of(results.spec());
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.id() == run; });
  if (found == cases.end()) return invalid("{} has no run '{}'; {} is one", folder, run, cases[0].id());
  const std::string file = results.trace_file(*found);
  if (!file_exists(file)) return not_found("{} is missing; only what troupe lab record ran can be replayed", file);
  TRY_ASSIGN(const std::string text, read_file(file));
  TRY_ASSIGN(const Data data, load_data(results.spec().data));
  TRY_ASSIGN(const Model model, build_model(results.spec().model, data, found->seed));
  Replay again(results.spec(), *found, data, model);
  TRY(again.open());
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (const Status status = again.follow(line); !status.ok()) return prepend_text(fmt::format("{}:{}: ", file, number), status);
  }
  if (again.recorded_end().empty()) return data_loss("{}: the end is missing; the run was interrupted", file);
  TRY_ASSIGN(const std::string end, again.end());
  if (end != again.recorded_end())
    return data_loss("{} updates lead to parameters {}, not to {} as recorded", again.updates(), end, again.recorded_end());
  fmt::print("{} updates, parameters {}: the same, bit for bit\n", again.updates(), end);
  return absl::OkStatus();
}

}  // namespace troupe::lab
