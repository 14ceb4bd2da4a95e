// Numbers of the gamma distribution by Marsaglia and Tsang's method.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/random/samples.hpp>

#include <cmath>

namespace troupe {
namespace {

double gamma_number(double alpha, Philox stream) {
  Backwards<Uniform<double>, double> uniform;
  if (alpha == 1.0) return -std::log1p(-uniform(stream));
  Backwards<Normal<double>, double> normal;
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    const double x = normal(stream);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = uniform(stream);
    const bool squeezed = u < 1 - 0.0331 * (x * x) * (x * x);
    if (!squeezed && !(std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)))) continue;
    return small ? d * v * std::pow(uniform(stream), 1 / alpha) : d * v;
  }
}

void fill_gamma(const Philox& stream, const Tensor& alpha, std::int64_t samples, Tensor& out) {
  visit_dtype(floats{}, out.dtype(), [&]<class T>() {
    fill_samples(alpha.size(), samples, out.mutable_data<T>(), [&](std::int64_t p, std::uint64_t i) {
      return gamma_number(static_cast<double>(alpha.data<T>()[p]), stream.skipped(blocks_per_number * i));
    });
  });
}

Status gamma_of_own_stream(Call& call, const Tensor& shape, const Tensor& alpha, Generator& generator) {
  if (shape.rank() != 1) return invalid("shape must be a vector of {{int32,int64}}, got shape: {}", describe(shape));
  TRY_ASSIGN(Shape s, shape_input(shape));
  const std::int64_t samples = s.elements();
  Dims dims(s.begin(), s.end());
  for (std::int64_t d : alpha.shape()) dims.push_back(d);
  TRY_ASSIGN(Shape whole, Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size())));
  Tensor& out = call.alloc(0, alpha.dtype(), whole);
  if (out.size() > 0) fill_gamma(generator.reserve_for(out.size()), alpha, samples, out);
  return absl::OkStatus();
}

bool ends_with(const Shape& whole, const Shape& end) {
  return whole.rank() >= end.rank() && std::equal(end.begin(), end.end(), whole.end() - end.rank());
}

template <class MakeStream>
Status gamma_of_given_stream(Call& call, const Tensor& shape, const Tensor& alpha, MakeStream&& make) {
  TRY_ASSIGN(Shape s, shape_input(shape));
  TRY_ASSIGN(Philox stream, make());
  Tensor& out = call.alloc(0, alpha.dtype(), s);
  if (out.size() == 0) return absl::OkStatus();
  if (!ends_with(s, alpha.shape())) return invalid("Shape passed in must end with broadcasted shape.");
  fill_gamma(stream, alpha, out.size() / alpha.size(), out);
  return absl::OkStatus();
}

}  // namespace

void add_gamma(Registry& ops) {
  add_for(ops, "RandomGamma", {{"T", list_of(floats{})}}, [](Call& call, Any shape, Any alpha, State<Generator> generator) {
    return gamma_of_own_stream(call, shape.tensor, alpha.tensor, *generator);
  });
  add_for(ops, "StatelessRandomGammaV2", {{"dtype", list_of(floats{})}}, [](Call& call, Any shape, Any seed, Any alpha) {
    return gamma_of_given_stream(call, shape.tensor, alpha.tensor, [&] { return stream_of_seed(seed.tensor); });
  });
  add_for(ops, "StatelessRandomGammaV3", {{"dtype", list_of(floats{})}}, [](Call& call, Any shape, Any key, Any counter, Any alg, Any alpha) {
    return gamma_of_given_stream(call, shape.tensor, alpha.tensor, [&]() -> StatusOr<Philox> {
      TRY_ASSIGN(Philox stream, stream_of_key(key.tensor, counter.tensor, alg.tensor, 3));
      TRY(check_algorithm(alg.tensor));
      return stream;
    });
  });
}

}  // namespace troupe
