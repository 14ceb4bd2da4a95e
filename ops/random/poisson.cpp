// Numbers of the Poisson distribution: by products of uniform numbers for small rates, by Hörmann's rejection for others.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/samples.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

using rates = types<half, float, double, std::int32_t, std::int64_t>;
using counts = rates;

double small_rate(double rate, UniformDraws draw, double largest) {
  const double enough = std::exp(-rate);
  double product = 1, count = 0;
  while (true) {
    product *= draw();
    if (product <= enough && count <= largest) return count;
    count += 1;
  }
}

double large_rate(double rate, UniformDraws draw, double largest) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  while (true) {
    const double u = draw() - 0.5, v = draw();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + rate + 0.43);
    if (k > largest) continue;
    if (edge >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    const double drawn = std::log(v * inverse_alpha / (a / (edge * edge) + b));
    if (drawn <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

template <class U>
U poisson_number(double rate, const Philox& stream) {
  const auto largest = static_cast<double>(Eigen::NumTraits<U>::highest());
  // What is no number would be drawn for without end.
  if (std::isnan(rate)) return std::numeric_limits<U>::has_quiet_NaN ? std::numeric_limits<U>::quiet_NaN() : U(0);
  if (std::isinf(rate) && rate > 0) return std::numeric_limits<U>::has_infinity ? std::numeric_limits<U>::infinity() : std::numeric_limits<U>::max();
  return static_cast<U>(rate < 10 ? small_rate(rate, UniformDraws(stream), largest) : large_rate(rate, UniformDraws(stream), largest));
}

void fill_poisson(const Philox& stream, const Tensor& rate, std::int64_t samples, Tensor& out) {
  std::vector<double> wanted(static_cast<std::size_t>(rate.size()));
  visit_dtype(rates{}, rate.dtype(), [&]<class R>() {
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<double>(rate.data<R>()[i]);
  });
  visit_dtype(counts{}, out.dtype(), [&]<class U>() {
    fill_samples(rate.size(), samples, out.mutable_data<U>(), [&](std::int64_t p, std::uint64_t i) {
      return poisson_number<U>(wanted[static_cast<std::size_t>(p)], stream.skipped(blocks_per_number * i));
    });
  });
}

Status poisson(Call& call, const Tensor& shape, const Tensor& rate, DType dtype, Generator& generator) {
  TRY_ASSIGN(Shape s, shape_input(shape));
  Dims dims(s.begin(), s.end());
  for (std::int64_t d : rate.shape()) dims.push_back(d);
  TRY_ASSIGN(Shape whole, Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size())));
  Tensor& out = call.alloc(0, dtype, whole);
  if (out.size() > 0) fill_poisson(generator.reserve_for(out.size()), rate, s.elements(), out);
  return absl::OkStatus();
}

Status stateless_poisson(Call& call, const Tensor& shape, const Tensor& seed, const Tensor& rate, DType dtype) {
  TRY_ASSIGN(Shape s, shape_input(shape));
  TRY_ASSIGN(Philox stream, stream_of_seed(seed));
  const auto end = rate.shape().dims();
  if (s.rank() < rate.rank() || !std::equal(end.begin(), end.end(), s.dims().end() - rate.rank()))
    return invalid("Shape passed in must end with broadcasted shape.");
  Tensor& out = call.alloc(0, dtype, s);
  if (out.size() > 0) fill_poisson(stream, rate, out.size() / rate.size(), out);
  return absl::OkStatus();
}

}  // namespace

void add_poisson(Registry& ops) {
  add_for(ops, "RandomPoisson", {{"dtype", list_of(types<half, float, double>{})}},
          [](Call& call, Any shape, Any rate, Attr<"dtype", DType> dtype, State<Generator> g) {
            return poisson(call, shape.tensor, rate.tensor, *dtype, *g);
          });
  add_for(ops, "RandomPoissonV2", {{"R", list_of(rates{})}, {"dtype", list_of(counts{})}},
          [](Call& call, Any shape, Any rate, Attr<"dtype", DType> dtype, State<Generator> g) {
            return poisson(call, shape.tensor, rate.tensor, *dtype, *g);
          });
  add_for(ops, "StatelessRandomPoisson", {{"Rtype", list_of(rates{})}, {"dtype", list_of(counts{})}},
          [](Call& call, Any shape, Any seed, Any rate, Attr<"dtype", DType> dtype) {
            return stateless_poisson(call, shape.tensor, seed.tensor, rate.tensor, *dtype);
          });
}

}  // namespace troupe
