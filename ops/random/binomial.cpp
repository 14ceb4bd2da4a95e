// Numbers of the binomial distribution: by sums of geometric numbers for small means, by Hörmann's rejection for others.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/rng_state.hpp>
#include <troupe/ops/random/samples.hpp>

#include <cmath>

namespace troupe {
namespace {

using parameters = types<half, float, double>;
using results = types<half, float, double, std::int32_t, std::int64_t>;

double by_inversion(double count, double probability, UniformDraws draw) {
  double sum = 0, successes = 0;
  while (true) {
    sum += std::ceil(std::log(draw()) / std::log1p(-probability));
    if (sum > count) return successes;
    successes += 1;
  }
}

/// What Stirling's formula misses of log k!.
double stirling_tail(double k) {
  static constexpr double table[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                                     0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return table[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

double by_rejection(double count, double probability, UniformDraws draw) {
  const double deviation = std::sqrt(count * probability * (1 - probability));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * probability;
  const double c = count * probability + 0.5, tight = 0.92 - 4.2 / b, odds = probability / (1 - probability);
  const double alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * probability);
  while (true) {
    const double u = draw() - 0.5, v = draw();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + c);
    if (edge >= 0.07 && v <= tight) return k;
    if (k < 0 || k > count) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (count - m + 1))) + (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_tail(m) + stirling_tail(count - m) - stirling_tail(k) -
                         stirling_tail(count - k);
    if (std::log(v * alpha / (a / (edge * edge) + b)) <= bound) return k;
  }
}

/// T is the type in which TensorFlow decides between the two methods.
template <class T>
double binomial_number(T count, T probability, const Philox& stream, std::uint64_t index) {
  // Sums of geometric numbers take fewer blocks than rejection.
  constexpr std::uint64_t blocks_of_inversion = 42;
  const auto n = static_cast<double>(count);
  if (n <= 0 || probability <= T(0)) return 0;
  if (probability >= T(1)) return n;
  if (!(probability == probability) || !std::isfinite(n)) return std::nan("");
  const bool mirrored = probability > T(0.5);
  const T p = mirrored ? T(T(1) - probability) : probability;
  const double k = T(count * p) >= T(10) ? by_rejection(n, static_cast<double>(p), UniformDraws(stream.skipped(blocks_per_number * index)))
                                         : by_inversion(n, static_cast<double>(p), UniformDraws(stream.skipped(blocks_of_inversion * index)));
  return mirrored ? n - k : k;
}

template <class U>
U as_result(double x) {
  if constexpr (std::is_integral_v<U>) return std::isnan(x) ? U(0) : static_cast<U>(x);
  else return static_cast<U>(x);
}

/// Offsets of both inputs for each element of their broadcast shape.
std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(const Broadcast& b) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  b.for_each_row([&](std::int64_t, std::int64_t l, std::int64_t r) {
    for (std::int64_t i = 0; i < b.size.back(); ++i) pairs.emplace_back(l + i * b.left_step.back(), r + i * b.right_step.back());
  });
  return pairs;
}

struct BinomialShape {
  Shape whole;
  Broadcast batch;
  std::int64_t samples = 1;
};

StatusOr<BinomialShape> shape_of_samples(const Tensor& shape, const Tensor& counts, const Tensor& probs) {
  auto batch = Broadcast::of(counts.shape(), probs.shape());
  if (!batch) return invalid("counts and probs must have compatible batch dimensions: {} vs. {}", counts.shape(), probs.shape());
  if (shape.rank() != 1) return invalid("Input shape should be a vector, got shape: {}", shape.shape());
  TRY_ASSIGN(Shape whole, shape_input(shape));
  const auto end = batch->output.dims();
  if (whole.rank() < batch->output.rank() || !std::equal(end.begin(), end.end(), whole.dims().end() - batch->output.rank()))
    return invalid("Shape passed in must end with broadcasted shape.");
  const std::int64_t samples = whole.elements(0, whole.rank() - batch->output.rank());
  return BinomialShape{std::move(whole), std::move(*batch), samples};
}

void fill_binomial(Call& call, const BinomialShape& s, const Tensor& counts, const Tensor& probs, DType dtype, const Philox& stream) {
  Tensor& out = call.alloc(0, dtype, s.whole);
  if (out.size() == 0) return;
  const auto pairs = pairs_of(s.batch);
  visit_dtype(parameters{}, counts.dtype(), [&]<class T>() {
    visit_dtype(results{}, dtype, [&]<class U>() {
      fill_samples(static_cast<std::int64_t>(pairs.size()), s.samples, out.mutable_data<U>(), [&](std::int64_t p, std::uint64_t i) {
        const auto& [l, r] = pairs[static_cast<std::size_t>(p)];
        return as_result<U>(binomial_number(counts.data<T>()[l], probs.data<T>()[r], stream, i));
      });
    });
  });
}

}  // namespace

void add_binomial(Registry& ops) {
  add_for(ops, "StatelessRandomBinomial", {{"dtype", list_of(results{})}, {"T", list_of(parameters{})}},
          [](Call& call, Any shape, Any seed, Any counts, Any probs, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(Philox stream, stream_of_seed(seed.tensor));
            TRY_ASSIGN(BinomialShape s, shape_of_samples(shape.tensor, counts.tensor, probs.tensor));
            fill_binomial(call, s, counts.tensor, probs.tensor, *dtype, stream);
            return absl::OkStatus();
          });
  add_for(ops, "StatefulRandomBinomial", {{"dtype", list_of(results{})}, {"T", list_of(parameters{})}},
          [](Call& call, AnyVar state, Any algorithm, Any shape, Any counts, Any probs, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(BinomialShape s, shape_of_samples(shape.tensor, counts.tensor, probs.tensor));
            if (algorithm->rank() != 0) return invalid("algorithm must be of shape [], not {}", algorithm->shape());
            // ThreeFry is refused in other words than elsewhere.
            if (algorithm->item<std::int64_t>() == 2) return invalid("Unsupported algorithm id: 2");
            const auto batches = s.batch.output.elements();
            TRY_ASSIGN(Philox stream, take_from_state(*state.variable, algorithm->item<std::int64_t>(),
                                                      static_cast<std::uint64_t>(batches * 2 * 100 * (s.samples + 3) / 4), 0));
            fill_binomial(call, s, counts.tensor, probs.tensor, *dtype, stream);
            return absl::OkStatus();
          });
}

}  // namespace troupe
