// Stochastic dual coordinate ascent for linear models: one pass over a batch of examples, shrinking, and the keys of examples.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/training/sdca_losses.hpp>

#include <farmhash.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe {

namespace {

struct SdcaOptions {
  std::shared_ptr<const SdcaLoss> loss;
  double l1, l2, partitions;

  static StatusOr<SdcaOptions> make(Binding& binding) {
    TRY_ASSIGN(const auto name, binding.attr<std::string>("loss_type"));
    TRY_ASSIGN(auto loss, SdcaLoss::of(name));
    TRY_ASSIGN(const float l1, binding.attr<float>("l1"));
    TRY_ASSIGN(const float l2, binding.attr<float>("l2"));
    TRY_ASSIGN(const auto partitions, binding.attr<std::int64_t>("num_loss_partitions"));
    return SdcaOptions{std::move(loss), l1, l2, static_cast<double>(partitions)};
  }
  /// A weight that is pulled towards zero.
  double shrunk(double weight) const { return std::copysign(std::max(std::abs(weight) - l1 / l2, 0.0), weight); }
};

/// Weights of the model and what this step adds to them.
struct Weights {
  const float* now;
  float* added;
};
/// One number of an example: which weights it goes with, and where.
struct Feature {
  Weights weights;
  std::int64_t at;
  double value;
};
using Examples = std::vector<std::vector<Feature>>;

Status add_sparse(const Tensor& rows, const Tensor& keys, const Tensor* values, const Tensor& known, Weights weights, std::int64_t count,
                  Examples& examples) {
  if (rows.size() != keys.size())
    return invalid("Found mismatched example_indices and feature_indices [{}] vs [{}]", summarize(rows, 10), summarize(keys, 10));
  if (values && values->size() != rows.size())
    return invalid("Found mismatched feature_indices and feature_values [{}] vs [{}]", summarize(keys, 10), summarize(*values, 10));
  std::unordered_map<std::int64_t, std::int64_t> places;
  for (std::int64_t i = 0; i < known.size(); ++i) places.emplace(known.data<std::int64_t>()[i], i);
  std::unordered_set<std::int64_t> seen;
  for (std::int64_t i = 0, last = -1; i < rows.size(); ++i) {
    const std::int64_t row = rows.data<std::int64_t>()[i], key = keys.data<std::int64_t>()[i];
    if (row < 0 || row >= std::ssize(examples)) continue;
    const auto place = places.find(key);
    if (place == places.end() || place->second >= count) return invalid("Found sparse feature indices out of valid range: {}", key);
    if (row != last) seen.clear();
    last = row;
    if (!seen.insert(key).second) return invalid("Duplicate index in sparse vector.");
    examples[static_cast<std::size_t>(row)].push_back({weights, place->second, values ? values->data<float>()[i] : 1.0});
  }
  return absl::OkStatus();
}

Status add_dense(const Tensor& features, int index, const Tensor& parameters, Weights weights, Examples& examples) {
  if (features.rank() != 2) return invalid("Dense features at index {} must be rank 2 but is rank {}", index, features.rank());
  if (features.dim(1) > parameters.size()) return invalid("More dense features than we have parameters for: {}", features.dim(1));
  if (features.dim(0) != std::ssize(examples)) return invalid("Expected {} rows of dense features but got {}", examples.size(), features.dim(0));
  for (std::int64_t r = 0, i = 0; r < features.dim(0); ++r)
    for (std::int64_t c = 0; c < features.dim(1); ++c, ++i) examples[static_cast<std::size_t>(r)].push_back({weights, c, features.data<float>()[i]});
  return absl::OkStatus();
}

/// One example's step: its new state, and what it adds to the weights.
Status step(const SdcaOptions& o, const std::vector<Feature>& features, float label, float weight, const float* state, float* out) {
  double before = 0, wx = 0, norm = 0;
  for (const Feature& f : features) {
    const double now = f.weights.now[f.at], added = f.weights.added[f.at];
    before += f.value * o.shrunk(now);
    wx += f.value * o.shrunk(now + added * o.partitions);
    norm += f.value * f.value;
  }
  TRY_ASSIGN(const double y, o.loss->label(label));
  const SdcaExample e{y, weight, state[0], wx, o.partitions * weight * norm / o.l2};
  const double dual = o.loss->best_dual(e), change = (dual - e.dual) * weight;
  out[0] = static_cast<float>(dual);
  out[1] = static_cast<float>(o.loss->primal(y, before) * weight);
  out[2] = static_cast<float>(o.loss->dual(y, e.dual) * weight);
  out[3] = weight;
  for (const Feature& f : features) f.weights.added[f.at] += static_cast<float>(f.value * change / o.l2);
  return absl::OkStatus();
}

struct SdcaInputs {
  List rows, keys, values, dense;
  Any weights, labels;
  List known, sparse_weights, dense_weights;
  Any state;
};

Status optimize(Call& call, const SdcaInputs& in, const SdcaOptions& o) {
  const std::int64_t count = in.weights->size();
  if (in.labels->size() != count) return invalid("Expected {} example labels but got {}", count, in.labels->size());
  if (in.state->rank() != 2) return invalid("example_state_data must be rank 2 but is rank {}", in.state->rank());
  if (in.state->shape() != Shape{count, 4}) return invalid("Expected shape {} for example_state_data, got {}", Shape{count, 4}, in.state->shape());
  Examples examples(static_cast<std::size_t>(count));
  const auto output = [&](int i, const Tensor& now) {
    float* added = call.alloc<float>(i, now.shape());
    std::fill_n(added, now.size(), 0.0f);
    return Weights{now.data<float>(), added};
  };
  for (int i = 0; i < in.rows.size(); ++i) {
    const Tensor* values = i < in.values.size() ? &in.values[i] : nullptr;
    const Weights weights = output(1 + i, in.sparse_weights[i]);
    TRY(add_sparse(in.rows[i], in.keys[i], values, in.known[i], weights, in.sparse_weights[i].size(), examples));
  }
  for (int i = 0; i < in.dense.size(); ++i)
    TRY(add_dense(in.dense[i], i, in.dense_weights[i], output(1 + in.rows.size() + i, in.dense_weights[i]), examples));
  float* out = call.alloc<float>(0, in.state->shape());
  for (std::int64_t i = 0; i < count; ++i)
    TRY(step(o, examples[static_cast<std::size_t>(i)], in.labels->data<float>()[i], in.weights->data<float>()[i], in.state->data<float>() + 4 * i,
             out + 4 * i));
  return absl::OkStatus();
}

Status shrink(Call& call, const List& weights, float l1, float l2) {
  for (int i = 0; i < weights.size(); ++i) {
    const int at = weights.first + i;
    TRY_ASSIGN(auto variable, detail::variable_at(call, at));
    if (!variable->initialized()) return detail::uninitialized(call, at, *variable);
    if (variable->snapshot().dtype() != DType::f32) return detail::wrong_dtype(call, at, DType::f32);
    if (call.input_value(at).ref) call.input_value(at).tensor = Tensor();
    Tensor& value = variable->writable();
    float* w = value.mutable_data<float>();
    for (std::int64_t k = 0; k < value.size(); ++k) w[k] = std::copysign(std::max(std::abs(w[k]) - l1 / l2, 0.0f), w[k]);
  }
  return absl::OkStatus();
}

}  // namespace

void add_sdca(Registry& ops) {
  ops.add({"SdcaOptimizer", "SdcaOptimizerV2"}, [](Call& call, List rows, List keys, List values, List dense, Any weights, Any labels, List known,
                                                   List sparse_weights, List dense_weights, Any state, const SdcaOptions& options) {
    return optimize(call, {rows, keys, values, dense, weights, labels, known, sparse_weights, dense_weights, state}, options);
  });
  ops.add("SdcaShrinkL1",
          [](Call& call, List weights, Step&, Attr<"l1", float> l1, Attr<"l2", float> l2) { return shrink(call, weights, *l1, *l2); });
  ops.add("SdcaFprint", [](Call& call, In<std::string> text) -> Status {
    if (text.dims() != 1) return invalid("Input must be a vector, got shape {}", text.shape());
    auto* out = call.alloc<std::int64_t>(0, Shape{text.size(), 2});
    for (std::int64_t i = 0; i < text.size(); ++i) {
      const auto print = ::util::Fingerprint128(text[i].data(), text[i].size());
      out[2 * i] = static_cast<std::int64_t>(::util::Uint128Low64(print));
      out[2 * i + 1] = static_cast<std::int64_t>(::util::Uint128High64(print));
    }
    return absl::OkStatus();
  });
  ops.cost({"SdcaOptimizer", "SdcaOptimizerV2"}, 20);
}

}  // namespace troupe
