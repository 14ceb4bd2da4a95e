// Normal numbers of a given mean and deviation between given bounds: by rejection from a normal, uniform or exponential proposal.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/math/joint_broadcast.hpp>
#include <troupe/ops/random/distributions.hpp>
#include <troupe/ops/random/generator.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

constexpr int most_tries = 1000;
using types_here = types<half, float, double>;

/// One batch: its normalised bounds, perhaps mirrored, and where its numbers go.
template <class T>
struct Batch {
  T mean, deviation, low, high;
  T* out;
  std::int64_t left;
  std::int64_t step = 1;  // from one number's place to the next one's

  T normal_low() const { return (low - mean) / deviation; }
  T normal_high() const { return (high - mean) / deviation; }

  void accept(const T& z) {
    *out = z * deviation + mean;
    out += step;
    --left;
  }
};

template <class T>
Status from_normal(Batch<T>& batch, Philox& stream) {
  const T low = batch.normal_low(), high = batch.normal_high();
  int tries = 0;
  while (batch.left > 0) {
    for (const T& z : Normal<T>()(stream.next())) {
      if (z >= low && z <= high) {
        batch.accept(z);
        if (batch.left == 0) break;
        tries = 0;
      } else if (++tries > most_tries) {
        return internal("TruncatedNormal randn rejection sampler failed to accept a sample.");
      }
    }
  }
  return absl::OkStatus();
}

template <class T>
Status from_uniform(Batch<T>& batch, Philox& stream) {
  const T low = batch.normal_low(), range = batch.normal_high() - low;
  const T plus = low < T(0) ? T(0) : T(low * low);
  int tries = 0;
  while (batch.left > 0) {
    const auto proposed = Uniform<T>()(stream.next());
    const auto u = Uniform<T>()(stream.next());
    for (std::size_t i = 0; i < u.size(); ++i) {
      const T z = proposed[i] * range + low;
      if (u[i] <= Eigen::numext::exp(T((plus - z * z) / T(2)))) {
        batch.accept(z);
        if (batch.left == 0) break;
        tries = 0;
      } else if (++tries >= most_tries) {
        return internal("TruncatedNormal uniform rejection sampler failed to  accept a sample.");
      }
    }
  }
  return absl::OkStatus();
}

template <class T>
Status from_exponential(Batch<T>& batch, Philox& stream) {
  const T low = batch.normal_low(), high = batch.normal_high();
  const T alpha = (low + Eigen::numext::sqrt(T(low * low + T(4)))) / T(2);
  int tries = 0;
  while (batch.left > 0) {
    const auto draws = Uniform<T>()(stream.next());
    for (std::size_t i = 0; i + 1 < draws.size(); i += 2) {
      const T z = -Eigen::numext::log(draws[i]) / alpha + low;
      const T x = low < alpha ? T(alpha - z) : T(low - alpha);
      if (draws[i + 1] <= Eigen::numext::exp(T(-x * x / T(2))) && z < high) {
        batch.accept(z);
        if (batch.left == 0) break;
        tries = 0;
      } else if (++tries >= most_tries) {
        return internal("TruncatedNormal exponential distribution rejection sampler failed to accept a sample.");
      }
    }
  }
  return absl::OkStatus();
}

template <class T>
Status fill_batch(Batch<T> batch, Philox& stream) {
  using Eigen::numext::isfinite;
  if (!(batch.deviation > T(0) && batch.low < batch.high && (isfinite(batch.low) || isfinite(batch.high)))) return invalid("Invalid parameters");
  // One bound alone becomes the lower one, and bounds on one side of the mean become positive.
  if ((Eigen::numext::isinf(batch.low) && batch.low < T(0)) || batch.high < batch.mean) {
    std::swap(batch.low, batch.high);
    batch.deviation = -batch.deviation;
  }
  const T low = batch.normal_low(), high = batch.normal_high(), wide(1.3);
  if ((low < -wide && high >= T(0)) || (high > wide && low <= T(0))) return from_normal(batch, stream);
  const T root = Eigen::numext::sqrt(T(low * low + T(4)));
  const T cutoff = T(2) * Eigen::numext::exp(T(T(0.5) + (low * (low - root)) / T(4))) / (low + root);
  return high - low < cutoff ? from_uniform(batch, stream) : from_exponential(batch, stream);
}

struct Parameters {
  const Tensor &means, &deviations, &lows, &highs;
  bool shared() const { return means.size() == 1 && deviations.size() == 1 && lows.rank() == 0 && highs.rank() == 0; }
};

Status check_parameters(const Parameters& p, std::int64_t batches) {
  const std::pair<const char*, const Tensor*> all[] = {{"means", &p.means}, {"stddevs", &p.deviations}, {"minvals", &p.lows}, {"maxvals", &p.highs}};
  for (const auto& [name, t] : all)
    if (t->rank() > 1) return invalid("Input {} should be a scalar or vector, got shape: {}", name, t->shape());
  if (p.shared()) return absl::OkStatus();
  for (const auto& [name, t] : all)
    if (t->size() != 1 && t->size() != batches) return invalid("Input {} should have length 1 or shape[0], got shape: {}", name, t->shape());
  return absl::OkStatus();
}

template <class T>
Status fill_batches(const Parameters& p, std::int64_t batches, std::int64_t per_batch, const Philox& start, Tensor& out) {
  Philox stream = start;
  const auto of = [](const Tensor& t, std::int64_t b) { return t.data<T>()[t.size() == 1 ? 0 : b]; };
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t from = b * per_batch;
    TRY(fill_batch<T>(
        {of(p.means, b), of(p.deviations, b), of(p.lows, b), of(p.highs, b), out.mutable_data<T>() + from, std::min(per_batch, out.size() - from)},
        stream));
  }
  return absl::OkStatus();
}

Status truncated_normal(Call& call, const Tensor& shape, const Parameters& p, Generator& generator) {
  // Where all batches are alike they are made anew, a hundred numbers each.
  constexpr std::int64_t desired = 100;
  if (shape.rank() != 1) return invalid("Input shape should be a vector, got shape: {}", shape.shape());
  if (shape.size() == 0) return invalid("Shape tensor must not be empty, got {}", describe(shape));
  TRY_ASSIGN(Shape s, shape_input(shape));
  TRY(check_parameters(p, s.dim(0)));
  Tensor& out = call.alloc(0, p.means.dtype(), s);
  const std::int64_t batches = p.shared() ? (out.size() + desired - 1) / desired : s.dim(0);
  const std::int64_t per_batch = p.shared() ? desired : s.elements(1, s.rank());
  const Philox stream = generator.reserve(static_cast<std::uint64_t>(batches * 2 * most_tries * (per_batch + 3) / 4));
  if (out.size() == 0) return absl::OkStatus();
  Status status;
  visit_dtype(types_here{}, out.dtype(), [&]<class T>() { status = fill_batches<T>(p, batches, per_batch, stream, out); });
  return status;
}

/// Parameters are broadcast to the last dimensions of the output; all numbers of one set of them come before those of the next.
Status stateless_truncated_normal(Call& call, const Tensor& shape, const Tensor& seed, const Parameters& p) {
  TRY_ASSIGN(Philox stream, stream_of_seed(seed));
  const auto joint = JointBroadcast<4>::of({&p.means.shape(), &p.deviations.shape(), &p.lows.shape(), &p.highs.shape()});
  if (!joint)
    return invalid("means, stddevs, minvals, maxvals must have compatible batch dimensions: {} vs. {} vs. {} vs. {}", p.means.shape(),
                   p.deviations.shape(), p.lows.shape(), p.highs.shape());
  if (shape.rank() != 1) return invalid("Input shape should be a vector, got shape: {}", shape.shape());
  TRY_ASSIGN(const Shape s, shape_input(shape));
  const int outer = s.rank() - joint->output.rank();
  if (outer < 0 || !std::ranges::equal(s.dims().subspan(static_cast<std::size_t>(outer)), joint->output.dims()))
    return invalid("Shape passed in must end with broadcasted shape.");
  Tensor& out = call.alloc(0, p.means.dtype(), s);
  if (out.size() == 0) return absl::OkStatus();
  const std::int64_t batches = joint->output.elements(), per_batch = s.elements(0, outer);
  Status status;
  visit_dtype(types_here{}, out.dtype(), [&]<class T>() {
    joint->for_each([&](std::int64_t b, const std::array<std::int64_t, 4>& at) {
      if (!status.ok()) return;
      status = fill_batch<T>({p.means.data<T>()[at[0]], p.deviations.data<T>()[at[1]], p.lows.data<T>()[at[2]], p.highs.data<T>()[at[3]],
                              out.mutable_data<T>() + b, per_batch, batches},
                             stream);
    });
  });
  return status;
}

}  // namespace

void add_truncated_normal(Registry& ops) {
  add_for(ops, "ParameterizedTruncatedNormal", {{"dtype", list_of(types_here{})}},
          [](Call& call, Any shape, Any means, Any deviations, Any lows, Any highs, State<Generator> generator) {
            return truncated_normal(call, shape.tensor, Parameters{means.tensor, deviations.tensor, lows.tensor, highs.tensor}, *generator);
          });
  add_for(
      ops, "StatelessParameterizedTruncatedNormal", {{"dtype", list_of(types_here{})}},
      [](Call& call, Any shape, Any seed, Any means, Any deviations, Any lows, Any highs) {
        return stateless_truncated_normal(call, shape.tensor, seed.tensor, Parameters{means.tensor, deviations.tensor, lows.tensor, highs.tensor});
      });
}

}  // namespace troupe
