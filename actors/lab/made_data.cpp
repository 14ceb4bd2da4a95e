// Data made up from a seed: a noisy line to fit, and sentences of words whose meaning is to be found.
#include <troupe/actors/lab/data.hpp>
#include <troupe/actors/lab/random.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::lab {
namespace {

Examples points(const DataSpec& spec, int count, std::uint64_t seed) {
  Random slopes({0x51095});
  std::vector<double> slope(static_cast<std::size_t>(spec.features));
  for (double& s : slope) s = slopes.normal() / std::sqrt(static_cast<double>(spec.features));
  Examples out{Tensor(DType::f32, Shape{count, spec.features}), Tensor(DType::f32, Shape{count})};
  float* x = out.inputs.mutable_data<float>();
  for (int i = 0; i < count; ++i) {
    Random random({seed, 0x907, static_cast<std::uint64_t>(i)});
    double y = 0.5 + spec.noise * random.normal();
    for (double s : slope) {
      *x = static_cast<float>(random.normal());
      y += s * *x++;
    }
    out.outputs.mutable_data<float>()[i] = static_cast<float>(y);
  }
  return out;
}

/// Every word leans towards one class; the class of a sentence is the one most of its words lean to. Few words are frequent, as in a language.
Examples sentences(const DataSpec& spec, int count, std::uint64_t seed) {
  Examples out{Tensor(DType::i32, Shape{count, spec.length}), Tensor(DType::i64, Shape{count})};
  std::int32_t* word = out.inputs.mutable_data<std::int32_t>();
  for (int i = 0; i < count; ++i) {
    Random random({seed, 0x3e47, static_cast<std::uint64_t>(i)});
    const auto meant = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spec.classes)));
    std::vector<int> votes(static_cast<std::size_t>(spec.classes));
    for (int k = 0; k < spec.length; ++k) {
      const double rank = std::pow(static_cast<double>(spec.vocabulary), random.unit()) - 1;
      auto drawn = std::min(static_cast<std::int64_t>(rank), static_cast<std::int64_t>(spec.vocabulary) - 1);
      if (random.unit() < 0.5) {  // half of the words are about what is meant
        drawn = drawn / spec.classes * spec.classes + meant;
        if (drawn >= spec.vocabulary) drawn = meant;
      }
      ++votes[static_cast<std::size_t>(drawn % spec.classes)];
      *word++ = static_cast<std::int32_t>(drawn);
    }
    out.outputs.mutable_data<std::int64_t>()[i] = std::max_element(votes.begin(), votes.end()) - votes.begin();
  }
  return out;
}

}  // namespace

Data made_regression(const DataSpec& spec) { return {points(spec, spec.examples, 1), points(spec, spec.tests, 2), 0}; }

Data made_words(const DataSpec& spec) { return {sentences(spec, spec.examples, 1), sentences(spec, spec.tests, 2), spec.classes}; }

}  // namespace troupe::lab
