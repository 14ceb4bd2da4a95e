// Candidates for sampled losses: classes drawn at random, and how often each is to be expected.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/generator.hpp>
#include <troupe/ops/random/samplers.hpp>

#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace troupe {
namespace {

using Classes = std::span<const std::int64_t>;

/// The sampler of a node, its stream, and how it is asked.
struct Candidates {
  std::unique_ptr<ClassSampler> sampler;  // none: all classes, in order
  Generator generator;
  std::int64_t num_true, num_sampled;
  bool unique;

  static StatusOr<Candidates> make(Binding& binding);
  std::int64_t range() const { return sampler ? sampler->range() : num_sampled; }
};

StatusOr<std::unique_ptr<ClassSampler>> fixed(Binding& binding, std::int64_t range) {
  TRY_ASSIGN(const std::string file, binding.attr<std::string>("vocab_file"));
  TRY_ASSIGN(const std::vector<float> counts, binding.attr<std::vector<float>>("unigrams"));
  if (file.empty() && counts.empty()) return invalid("Must provide either vocab_file or unigrams.");
  if (!file.empty() && !counts.empty()) return invalid("Must only provide one of vocab_file and unigrams.");
  FixedUnigrams how;
  how.range = range;
  TRY_ASSIGN(how.distortion, binding.attr<float>("distortion"));
  TRY_ASSIGN(how.reserved_ids, binding.attr<std::int64_t>("num_reserved_ids"));
  TRY_ASSIGN(how.shards, binding.attr<std::int64_t>("num_shards"));
  TRY_ASSIGN(how.shard, binding.attr<std::int64_t>("shard"));
  if (how.shards < 1) return invalid("num_shards must be positive, got {}", how.shards);
  return file.empty() ? fixed_sampler(how, counts) : fixed_sampler_of_file(how, file);
}

StatusOr<std::unique_ptr<ClassSampler>> sampler_of(Binding& binding) {
  const std::string& op = binding.node().op();
  if (op == "AllCandidateSampler") return nullptr;
  TRY_ASSIGN(const std::int64_t range, binding.attr<std::int64_t>("range_max"));
  if (range < 1) return invalid("range_max must be positive, got {}", range);
  if (op == "UniformCandidateSampler") return uniform_sampler(range);
  if (op == "LogUniformCandidateSampler") return log_uniform_sampler(range);
  if (op == "FixedUnigramCandidateSampler") return fixed(binding, range);
  if (range >= std::numeric_limits<std::int32_t>::max())
    return invalid("range_max must be less than {}, got {}", std::numeric_limits<std::int32_t>::max(), range);
  return learning_sampler(range);
}

StatusOr<Candidates> Candidates::make(Binding& binding) {
  TRY_ASSIGN(const std::int64_t num_sampled, binding.attr<std::int64_t>("num_sampled"));
  TRY_ASSIGN(const std::int64_t num_true, binding.attr<std::int64_t>("num_true"));
  TRY_ASSIGN(const bool unique, binding.attr<bool>("unique"));
  for (std::int64_t n : {num_sampled, num_true})
    if (n < 1 || n > std::numeric_limits<std::int32_t>::max())
      return invalid("num_sampled and num_true must be positive int32, got {} and {}", num_sampled, num_true);
  TRY_ASSIGN(Generator generator, Generator::make(binding));
  TRY_ASSIGN(auto sampler, sampler_of(binding));
  return Candidates{std::move(sampler), std::move(generator), num_true, num_sampled, unique};
}

/// The samples; returns how many tries they took.
StatusOr<std::int32_t> draw(ClassSampler& sampler, Draws draws, bool unique, std::span<std::int64_t> out) {
  if (!unique) {
    for (std::int64_t& value : out) value = sampler.sample(draws);
    return static_cast<std::int32_t>(out.size());
  }
  if (sampler.reachable() < static_cast<std::int64_t>(out.size()))
    return invalid("Sampler has only {} classes that can be sampled, but {} are wanted.", sampler.reachable(), out.size());
  std::unordered_set<std::int64_t> used(out.size());
  std::int32_t tries = 0;
  for (std::size_t picked = 0; picked < out.size();) {
    if (++tries == std::numeric_limits<std::int32_t>::max()) return internal("Sampler found no more unique classes.");
    const std::int64_t value = sampler.sample(draws);
    if (used.insert(value).second) out[picked++] = value;
  }
  return tries;
}

/// How often a class of a probability is among the samples: by chance, or at most once in so many tries.
float expected_count(float probability, std::int32_t samples, std::int32_t tries) {
  if (tries == samples) return probability * static_cast<float>(samples);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-probability));
}

Status sample(Call& call, const Tensor& true_classes, Candidates& how) {
  if (true_classes.rank() != 2) return invalid("true_classes must be a matrix");
  if (true_classes.dim(1) != how.num_true)
    return invalid("true_classes must have num_true columns, expected: {} was: {}", true_classes.dim(1), how.num_true);
  if (how.unique && how.num_sampled > how.range()) return invalid("Sampler's range is too small.");
  const Classes seen = true_classes.values<std::int64_t>();
  for (std::int64_t c : seen)
    if (c < 0 || c >= how.range()) return invalid("`true_candidate` out of range [0, {}), received {}", how.range(), c);

  std::int64_t* sampled = call.alloc<std::int64_t>(0, Shape{how.num_sampled});
  float* true_counts = call.alloc<float>(1, true_classes.shape());
  float* sampled_counts = call.alloc<float>(2, Shape{how.num_sampled});
  const auto n = static_cast<std::size_t>(how.num_sampled);
  const Philox stream = how.generator.reserve(512 * static_cast<std::uint64_t>(how.num_sampled));
  if (!how.sampler) {
    for (std::size_t i = 0; i < n; ++i) sampled[i] = static_cast<std::int64_t>(i);
    std::fill_n(sampled_counts, n, 1.0f);
    std::fill_n(true_counts, seen.size(), 1.0f);
    return absl::OkStatus();
  }
  TRY_ASSIGN(const std::int32_t tries, draw(*how.sampler, Draws(stream), how.unique, {sampled, n}));
  const auto count = [&](std::int64_t c) { return expected_count(how.sampler->probability(c), static_cast<std::int32_t>(n), tries); };
  for (std::size_t i = 0; i < n; ++i) sampled_counts[i] = count(sampled[i]);
  for (std::size_t i = 0; i < seen.size(); ++i) true_counts[i] = count(seen[i]);
  how.sampler->learn(seen);
  return absl::OkStatus();
}

/// Where samples are true classes: their rows, their positions among the samples, and weights that take them out.
Status accidental_hits(Call& call, const Tensor& true_classes, const Tensor& sampled, std::int64_t num_true) {
  if (true_classes.rank() != 2 || true_classes.dim(1) != num_true) return invalid("true_candidates must be a batch_size * num_true matrix");
  if (sampled.rank() != 1) return invalid("sampled_candidates must be a vector, which is typically an output from CandidateSampler");
  std::unordered_map<std::int64_t, std::int64_t> position;
  const Classes candidates = sampled.values<std::int64_t>(), wanted = true_classes.values<std::int64_t>();
  for (std::size_t i = 0; i < candidates.size(); ++i) position[candidates[i]] = static_cast<std::int64_t>(i);
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (auto hit = position.find(wanted[i]); hit != position.end()) {
      rows.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(i) / num_true));
      ids.push_back(hit->second);
    }
  call.set(0, Tensor::vector(rows));
  call.set(1, Tensor::vector(ids));
  call.set(2, Tensor::vector(std::vector<float>(ids.size(), std::numeric_limits<float>::lowest())));
  return absl::OkStatus();
}

}  // namespace

void add_candidates(Registry& ops) {
  ops.add({"UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler",
           "FixedUnigramCandidateSampler", "AllCandidateSampler"},
          [](Call& call, In<std::int64_t> true_classes, State<Candidates> how) { return sample(call, true_classes.tensor, *how); });
  ops.add("ComputeAccidentalHits", [](Call& call, In<std::int64_t> true_classes, In<std::int64_t> sampled, Attr<"num_true", std::int64_t> num_true) {
    return accidental_hits(call, true_classes.tensor, sampled.tensor, num_true);
  });
}

}  // namespace troupe
