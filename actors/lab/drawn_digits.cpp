// Digits drawn by strokes of a pen: each turned, slanted, stretched and moved a little, so that there is something to learn.
#include <troupe/actors/lab/data.hpp>
#include <troupe/actors/lab/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::lab {
namespace {

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

/// Between points of a unit square, x to the right and y down.
const std::array<std::vector<Stroke>, 10>& strokes() {
  static const std::array<std::vector<Stroke>, 10> all{{
      {{{.3, .1}, {.7, .1}, {.9, .5}, {.7, .9}, {.3, .9}, {.1, .5}, {.3, .1}}},
      {{{.3, .3}, {.55, .1}, {.55, .9}}},
      {{{.15, .3}, {.4, .1}, {.8, .2}, {.8, .4}, {.15, .9}, {.9, .9}}},
      {{{.2, .1}, {.8, .1}, {.45, .45}, {.8, .6}, {.75, .85}, {.2, .9}}},
      {{{.65, .9}, {.65, .1}, {.1, .65}, {.9, .65}}},
      {{{.8, .1}, {.25, .1}, {.2, .45}, {.65, .45}, {.8, .7}, {.6, .9}, {.15, .9}}},
      {{{.7, .1}, {.3, .4}, {.2, .7}, {.4, .9}, {.7, .85}, {.75, .6}, {.25, .6}}},
      {{{.15, .1}, {.85, .1}, {.4, .9}}, {{.35, .5}, {.75, .5}}},
      {{{.5, .5}, {.2, .3}, {.5, .1}, {.8, .3}, {.5, .5}, {.2, .7}, {.5, .9}, {.8, .7}, {.5, .5}}},
      {{{.75, .4}, {.3, .45}, {.25, .15}, {.7, .1}, {.75, .4}, {.6, .9}}},
  }};
  return all;
}

double distance(const Point& p, const Point& a, const Point& b) {
  const Point along{b.x - a.x, b.y - a.y};
  const double length = along.x * along.x + along.y * along.y;
  const double at = length > 0 ? std::clamp(((p.x - a.x) * along.x + (p.y - a.y) * along.y) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - at * along.x, p.y - a.y - at * along.y);
}

void draw(int digit, Random& random, float* pixels) {
  const double angle = random.uniform(-.25, .25), slant = random.uniform(-.3, .3), width = random.uniform(11, 19), height = random.uniform(16, 22);
  const double dx = 13.5 + random.uniform(-2, 2), dy = 13.5 + random.uniform(-2, 2), pen = random.uniform(1.3, 2.2);
  const double c = std::cos(angle), s = std::sin(angle);
  auto placed = [&](const Point& p) {
    const double x = width * (p.x - .5) + slant * height * (p.y - .5), y = height * (p.y - .5);
    return Point{c * x - s * y + dx, s * x + c * y + dy};
  };
  std::array<double, 784> nearest;
  nearest.fill(1e9);
  for (const Stroke& stroke : strokes()[static_cast<std::size_t>(digit)])
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const Point a = placed(stroke[i - 1]), b = placed(stroke[i]);
      for (std::size_t at = 0; at < 784; ++at)
        nearest[at] = std::min(nearest[at], distance({static_cast<double>(at % 28), static_cast<double>(at / 28)}, a, b));
    }
  for (std::size_t at = 0; at < 784; ++at)
    pixels[at] = static_cast<float>(std::clamp(std::clamp(pen - nearest[at], 0.0, 1.0) + .08 * random.normal(), 0.0, 1.0));
}

Examples draw_many(int count, std::uint64_t seed) {
  Examples out{Tensor(DType::f32, Shape{count, 784}), Tensor(DType::i64, Shape{count})};
  for (int i = 0; i < count; ++i) {
    Random random({seed, 0xd1617, static_cast<std::uint64_t>(i)});
    const auto digit = static_cast<int>(random.below(10));
    out.outputs.mutable_data<std::int64_t>()[i] = digit;
    draw(digit, random, out.inputs.mutable_data<float>() + static_cast<std::ptrdiff_t>(i) * 784);
  }
  return out;
}

}  // namespace

Data drawn_digits(const DataSpec& spec) { return {draw_many(spec.examples, 1), draw_many(spec.tests, 2), 10}; }

}  // namespace troupe::lab
