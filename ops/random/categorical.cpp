// Classes drawn by their unnormalised log probabilities.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/distributions.hpp>
#include <troupe/ops/random/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

StatusOr<Shape> shape_of_draws(const Tensor& logits, const Tensor& samples) {
  if (logits.rank() != 2) return invalid("logits should be a matrix, got shape {}", logits.shape());
  if (samples.rank() != 0) return invalid("num_samples should be a scalar, got shape {}", samples.shape());
  const std::int32_t n = samples.item<std::int32_t>();
  if (n < 0) return invalid("num_samples should be nonnegative, got {}", n);
  for (int d = 0; d < 2; ++d)
    if (logits.dim(d) > std::numeric_limits<int>::max()) return invalid("logits.shape = {} too large for int", logits.shape());
  if (logits.dim(1) <= 0) return invalid("num_classes should be positive, got {}", logits.dim(1));
  return Shape{logits.dim(0), n};
}

/// Sums of the classes' weights up to each class; classes without a finite logit weigh nothing.
template <class T>
std::vector<double> running_weights(const T* logits, std::int64_t classes) {
  T largest = Eigen::NumTraits<T>::lowest();
  for (std::int64_t c = 0; c < classes; ++c)
    if (std::isfinite(static_cast<double>(logits[c]))) largest = std::max(largest, logits[c]);
  std::vector<double> sums(static_cast<std::size_t>(classes));
  double total = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    const auto x = static_cast<double>(logits[c]);
    if (std::isfinite(x)) total += std::exp(x - static_cast<double>(largest));
    sums[static_cast<std::size_t>(c)] = total;
  }
  return sums;
}

template <class T, class U>
void draw_rows(const Tensor& logits, const Philox& stream, Tensor& out) {
  PhiloxWords words(stream);
  const std::int64_t classes = logits.dim(1), samples = out.dim(1);
  U* drawn = out.mutable_data<U>();
  for (std::int64_t row = 0; row < logits.dim(0); ++row) {
    const auto sums = running_weights(logits.data<T>() + row * classes, classes);
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::uint32_t x0 = words(), x1 = words();
      const double wanted = unit_double(x0, x1) * sums.back();
      *drawn++ = static_cast<U>(std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin());
    }
  }
}

void draw(const Tensor& logits, const Philox& stream, Tensor& out) {
  visit_dtype(floats{}, logits.dtype(), [&]<class T>() {
    if (out.dtype() == DType::i32) draw_rows<T, std::int32_t>(logits, stream, out);
    else draw_rows<T, std::int64_t>(logits, stream, out);
  });
}

}  // namespace

void add_categorical(Registry& ops) {
  const std::vector<ForTypes> where{{"T", list_of(floats{})}, {"output_dtype", list_of(indices{})}};
  add_for(ops, "Multinomial", where,
          [](Call& call, Any logits, Any samples, Attr<"output_dtype", DType> dtype, State<Generator> generator) -> Status {
            TRY_ASSIGN(Shape shape, shape_of_draws(logits.tensor, samples.tensor));
            Tensor& out = call.alloc(0, *dtype, shape);
            if (out.size() == 0) return absl::OkStatus();
            // A number takes two words, and rows begin at whole blocks.
            const std::int64_t per_row = (shape.dim(1) + 3) / 4 * 4 * 2;
            draw(logits.tensor, generator->reserve_for(shape.dim(0) * per_row), out);
            return absl::OkStatus();
          });
  add_for(ops, "StatelessMultinomial", where, [](Call& call, Any logits, Any samples, Any seed, Attr<"output_dtype", DType> dtype) -> Status {
    TRY_ASSIGN(Philox stream, stream_of_seed(seed.tensor));
    TRY_ASSIGN(Shape shape, shape_of_draws(logits.tensor, samples.tensor));
    Tensor& out = call.alloc(0, *dtype, shape);
    if (out.size() > 0) draw(logits.tensor, stream, out);
    return absl::OkStatus();
  });
}

}  // namespace troupe
