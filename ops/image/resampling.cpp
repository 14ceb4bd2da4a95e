// Filters and the spans that they give.
#include <troupe/ops/image/resampling.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace troupe {
namespace {

float lanczos(float x, float radius) {
  constexpr float pi = 3.14159265359f;
  if (x > radius) return 0;
  // Where sin(x) / x has no value of its own.
  if (x <= 1e-3f) return 1;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}
float gaussian(float x, float radius) {
  if (x >= radius) return 0;
  const float sigma = radius / 3.0f;
  return static_cast<float>(std::exp(static_cast<double>(-x * x) / (2.0 * static_cast<double>(sigma) * static_cast<double>(sigma))));
}
float box(float x, float) { return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f; }
float triangle(float x, float) { return x < 1.0f ? 1.0f - x : 0.0f; }
float keys_cubic(float x, float) {
  if (x >= 2.0f) return 0;
  if (x >= 1.0f) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
  return (1.5f * x - 2.5f) * x * x + 1.0f;
}
float mitchell_cubic(float x, float) {
  if (x >= 2.0f) return 0;
  if (x >= 1.0f) return ((-7.0f / 18.0f * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f;
  return (7.0f / 6.0f * x - 2.0f) * x * x + 8.0f / 9.0f;
}

/// A float as a pixel of [0, n).
std::int64_t pixel(float x, std::int64_t n) { return static_cast<std::int64_t>(std::clamp(static_cast<double>(x), 0.0, static_cast<double>(n - 1))); }

}  // namespace

StatusOr<Filter> Filter::named(const std::string& name) {
  static const std::map<std::string_view, Filter> all = {
      {"lanczos1", {1, lanczos}}, {"lanczos3", {3, lanczos}},  {"lanczos5", {5, lanczos}},     {"gaussian", {1.5f, gaussian}},
      {"box", {1, box}},          {"triangle", {1, triangle}}, {"keyscubic", {2, keys_cubic}}, {"mitchellcubic", {2, mitchell_cubic}},
  };
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = all.find(lower);
  if (found == all.end()) return invalid("Unrecognized kernel type: {}", name);
  return found->second;
}

Spans spans_of(const Filter& filter, const Axis& axis, bool antialias) {
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(axis.scale));
  const float shift = -inverse * axis.translation;
  // A filter must be as wide as the pixels that it makes one of.
  const float widening = antialias ? std::max(inverse, 1.0f) : 1.0f;
  const float reach = filter.radius * widening;
  Spans spans;
  spans.size = static_cast<std::int64_t>(std::min(2 * std::ceil(static_cast<double>(reach)) + 1, static_cast<double>(axis.input)));
  spans.starts.assign(static_cast<std::size_t>(axis.output), 0);
  spans.weights = Tensor::zeros(DType::f32, Shape{axis.output * spans.size});
  const float narrowing = 1.0f / widening;
  for (std::int64_t x = 0; x < axis.output; ++x) {
    const float at = (static_cast<float>(x) + 0.5f) * inverse + shift;
    if (!(at >= 0 && at <= static_cast<float>(axis.input))) continue;
    const std::int64_t first = pixel(std::ceil(at - reach - 0.5f), axis.input);
    const std::int64_t last = std::min(pixel(std::floor(at + reach - 0.5f), axis.input), first + spans.size - 1);
    float* weights = spans.weights.mutable_data<float>() + x * spans.size;
    float sum = 0;
    for (std::int64_t in = first; in <= last; ++in) {
      const float weight = filter.at(std::abs((static_cast<float>(in) + 0.5f - at) * narrowing), filter.radius);
      sum += weight;
      weights[in - first] = weight;
    }
    const float factor = std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min() ? 1.0f / sum : 0.0f;
    for (std::int64_t in = first; in <= last; ++in) weights[in - first] = factor == 0 ? 0.0f : weights[in - first] * factor;
    spans.starts[static_cast<std::size_t>(x)] = first;
  }
  return spans;
}

Spans gradient_spans(const Spans& forward, std::int64_t inputs) {
  struct Part {
    std::int64_t output;
    float weight;
  };
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(inputs));
  for (std::size_t o = 0; o < forward.starts.size(); ++o)
    for (std::int64_t j = 0; j < forward.size; ++j) {
      const float weight = forward.weights_of(static_cast<std::int64_t>(o))[j];
      const std::int64_t in = forward.starts[o] + j;
      if (weight != 0 && in < inputs) parts[static_cast<std::size_t>(in)].push_back({static_cast<std::int64_t>(o), weight});
    }
  Spans spans;
  for (const auto& p : parts)
    if (!p.empty()) spans.size = std::max(spans.size, p.back().output - p.front().output + 1);
  spans.starts.assign(parts.size(), 0);
  spans.weights = Tensor::zeros(DType::f32, Shape{inputs * spans.size});
  for (std::size_t in = 0; in < parts.size(); ++in) {
    if (parts[in].empty()) continue;
    spans.starts[in] = parts[in].front().output;
    float* weights = spans.weights.mutable_data<float>() + static_cast<std::int64_t>(in) * spans.size;
    for (const Part& p : parts[in]) weights[p.output - spans.starts[in]] += p.weight;
  }
  return spans;
}

}  // namespace troupe
