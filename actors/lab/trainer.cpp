// Gradients, updates and scores through whoever runs the graphs.
#include <troupe/actors/lab/trainer.hpp>

#include <troupe/messaging/hash64.hpp>

#include <cstring>

namespace troupe::lab {

Learner::Learner(const Model& model, std::unique_ptr<Runner> runner) : model_(model), runner_(std::move(runner)), fetches_(model.gradients) {
  fetches_.push_back(model.loss);
}

std::map<std::string, Tensor> Learner::feeds_of(const Parameters& parameters, const Examples& examples) const {
  std::map<std::string, Tensor> feeds{{model_.inputs, examples.inputs}, {model_.labels, examples.outputs}};
  for (std::size_t i = 0; i < parameters.size(); ++i) feeds[model_.parameters[i].name + ":0"] = parameters[i];
  return feeds;
}

StatusOr<Gradient> Learner::gradient(const Parameters& parameters, const Examples& batch) {
  TRY_ASSIGN(auto values, runner_->run(feeds_of(parameters, batch), fetches_, {}));
  const double loss = values.back().item<float>();
  values.pop_back();
  return Gradient{std::move(values), loss};
}

StatusOr<Score> Learner::score(const Parameters& parameters, const Examples& examples) {
  TRY_ASSIGN(const auto values, runner_->run(feeds_of(parameters, examples), {model_.loss, model_.score}, {}));
  return Score{values[0].item<float>(), values[1].item<float>()};
}

Shard::Shard(const Model& model, std::vector<std::size_t> which, std::unique_ptr<Runner> runner)
    : model_(model), which_(std::move(which)), runner_(std::move(runner)) {
  for (std::size_t i : which_) reads_.push_back(read_name(model.parameters[i]));
}

StatusOr<std::unique_ptr<Shard>> Shard::open(const Model& model, std::vector<std::size_t> which, std::unique_ptr<Runner> runner) {
  auto shard = std::unique_ptr<Shard>(new Shard(model, std::move(which), std::move(runner)));
  TRY(shard->runner_->run({}, {}, {"init"}).status());
  return shard;
}

Status Shard::read(Parameters& into) {
  into.resize(model_.parameters.size());
  if (latest_.empty() && !which_.empty()) {
    TRY_ASSIGN(latest_, runner_->run({}, reads_, {}));
  }
  for (std::size_t i = 0; i < which_.size(); ++i) into[which_[i]] = latest_[i];
  return absl::OkStatus();
}

Status Shard::apply(const Gradient& gradient, double rate) {
  std::map<std::string, Tensor> feeds{{"rate:0", Tensor::scalar(static_cast<float>(rate))}};
  std::size_t part = 0, mine = 0;
  for (std::size_t i = 0; i < model_.parameters.size(); ++i) {
    const Parameter& p = model_.parameters[i];
    if (mine < which_.size() && which_[mine] == i) {
      ++mine;
      feeds[p.name + "/gradient:0"] = gradient.parts[part];
      if (p.sparse) feeds[p.name + "/rows:0"] = gradient.parts[part + 1];
    }
    part += p.sparse ? 2 : 1;
  }
  ++version_;
  latest_.clear();
  if (which_.empty()) return absl::OkStatus();
  return runner_->run(feeds, {}, {"apply"}).status();
}

namespace {

Tensor mean_of(const std::vector<const Tensor*>& parts) {
  Tensor out = parts[0]->copy();
  auto sum = out.mutable_values<float>();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto more = parts[i]->values<float>();
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += more[j];
  }
  const float share = 1.0f / static_cast<float>(parts.size());
  for (float& value : sum) value *= share;
  return out;
}

Tensor joined(const std::vector<const Tensor*>& parts) {
  std::int64_t rows = 0;
  for (const Tensor* part : parts) rows += part->dim(0);
  Shape shape{rows};
  for (int i = 1; i < parts[0]->rank(); ++i) shape.add_dim(parts[0]->dim(i));
  Tensor out(parts[0]->dtype(), shape);
  char* to = out.mutable_data<char>();
  for (const Tensor* part : parts) {
    std::memcpy(to, part->raw(), part->bytes());
    to += part->bytes();
  }
  return out;
}

}  // namespace

Gradient mean_of(const Model& model, const std::vector<const Gradient*>& gradients) {
  if (gradients.size() == 1) return *gradients[0];
  Gradient out;
  auto each = [&](std::size_t part) {
    std::vector<const Tensor*> all;
    for (const Gradient* g : gradients) all.push_back(&g->parts[part]);
    return all;
  };
  std::size_t part = 0;
  for (const Parameter& p : model.parameters) {
    if (!p.sparse) {
      out.parts.push_back(mean_of(each(part++)));
      continue;
    }
    Tensor rows = joined(each(part));
    for (float& value : rows.mutable_values<float>()) value /= static_cast<float>(gradients.size());
    out.parts.push_back(std::move(rows));
    out.parts.push_back(joined(each(part + 1)));
    part += 2;
  }
  for (const Gradient* g : gradients) out.loss += g->loss / static_cast<double>(gradients.size());
  return out;
}

std::uint64_t fingerprint(const Parameters& parameters) {
  std::string hashes;
  for (const Tensor& value : parameters) {
    const std::uint64_t hash = hash64({static_cast<const char*>(value.raw()), value.bytes()});
    hashes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  }
  return hash64(hashes);
}

}  // namespace troupe::lab
