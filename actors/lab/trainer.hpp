// The mathematics of training, whoever runs it: gradients of batches, shards that hold parameters and count their versions.
#pragma once

#include <troupe/actors/lab/model.hpp>
#include <troupe/actors/lab/runner.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace troupe::lab {

/// Values of parameters in the model's order; those of shards that were not asked are empty.
using Parameters = std::vector<Tensor>;

struct Gradient {
  std::vector<Tensor> parts;  // as the model's `gradients` says
  double loss = 0;            // of the batch
};

struct Score {
  double loss = 0, score = 0;
};

/// Computes gradients at given parameters. Keeps nothing.
class Learner {
 public:
  Learner(const Model& model, std::unique_ptr<Runner> runner);
  StatusOr<Gradient> gradient(const Parameters& parameters, const Examples& batch);
  StatusOr<Score> score(const Parameters& parameters, const Examples& examples);

 private:
  std::map<std::string, Tensor> feeds_of(const Parameters& parameters, const Examples& examples) const;
  const Model& model_;
  std::unique_ptr<Runner> runner_;
  std::vector<std::string> fetches_;
};

/// Some of the parameters. Every update is a new version.
class Shard {
 public:
  /// Initial values are there when it is.
  static StatusOr<std::unique_ptr<Shard>> open(const Model& model, std::vector<std::size_t> which, std::unique_ptr<Runner> runner);
  /// Fills in its parameters.
  Status read(Parameters& into);
  /// The gradient is of all parameters; it takes its own.
  Status apply(const Gradient& gradient, double rate);
  std::int64_t version() const { return version_; }
  const std::vector<std::size_t>& parameters() const { return which_; }

 private:
  Shard(const Model& model, std::vector<std::size_t> which, std::unique_ptr<Runner> runner);
  const Model& model_;
  std::vector<std::size_t> which_;
  std::unique_ptr<Runner> runner_;
  std::vector<std::string> reads_;
  std::int64_t version_ = 0;
  std::vector<Tensor> latest_;  // of the present version, once somebody has asked
};

/// In their order: what is added up in another order may differ in the last bit. Rows of sparse ones follow each other.
Gradient mean_of(const Model& model, const std::vector<const Gradient*>& gradients);

/// A number for all bytes of these parameters.
std::uint64_t fingerprint(const Parameters& parameters);

}  // namespace troupe::lab
