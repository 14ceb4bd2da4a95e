// Counting: Bincount, DenseBincount, HistogramFixedWidth and Bucketize.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace troupe {
namespace {

StatusOr<std::int64_t> bin_count(const Tensor& size) {
  if (size.rank() != 0) return invalid("Shape must be rank 0 but is rank {}", size.rank());
  const std::int64_t bins = index_value(size);
  if (bins < 0) return invalid("size ({}) must be non-negative", bins);
  return bins;
}

Status check_counted(const std::vector<std::int64_t>& values) {
  const bool negative = std::any_of(values.begin(), values.end(), [](std::int64_t v) { return v < 0; });
  return negative ? invalid("Input arr must be non-negative!") : absl::OkStatus();
}

/// Adds weights (ones where there are none) to bins; values beyond the last bin are left out.
template <class T>
void count_row(const std::int64_t* values, std::int64_t n, const T* weights, bool binary, std::int64_t bins, T* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (values[i] >= bins) continue;
    T& bin = out[values[i]];
    bin = binary ? T(1) : static_cast<T>(bin + (weights ? weights[i] : T(1)));
  }
}

template <class T>
Status bincount(Call& call, const Tensor& arr, const Tensor& size, const In<T>& weights) {
  TRY_ASSIGN(const std::int64_t bins, bin_count(size));
  const std::vector<std::int64_t> values = index_values(arr);
  if (weights.size() > 0 && weights.size() != arr.size()) return invalid("Input indices and weights must have the same size.");
  TRY(check_counted(values));
  T* out = call.alloc<T>(0, Shape{bins});
  std::fill_n(out, bins, T(0));
  count_row<T>(values.data(), arr.size(), weights.size() > 0 ? weights.data() : nullptr, false, bins, out);
  return absl::OkStatus();
}

template <class T>
Status dense_bincount(Call& call, const Tensor& input, const Tensor& size, const In<T>& weights, bool binary) {
  if (input.rank() > 2) return invalid("Shape must be at most rank 2 but is rank {}", input.rank());
  TRY_ASSIGN(const std::int64_t bins, bin_count(size));
  if (weights.size() > 0 && weights.shape() != input.shape())
    return invalid("`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights equal to 1. Received {}",
                   weights.shape());
  if (input.rank() == 0) {
    call.alloc<T>(0, Shape{0});
    return absl::OkStatus();
  }
  const std::vector<std::int64_t> values = index_values(input);
  TRY(check_counted(values));
  const std::int64_t rows = input.rank() == 1 ? 1 : input.dim(0), n = input.dim(input.rank() - 1);
  TRY_ASSIGN(const Shape shape, input.rank() == 1 ? Shape::checked(Shape{bins}.dims()) : Shape::checked(Shape{rows, bins}.dims()));
  T* out = call.alloc<T>(0, shape);
  std::fill_n(out, shape.elements(), T(0));
  for (std::int64_t r = 0; r < rows; ++r)
    count_row<T>(values.data() + r * n, n, weights.size() > 0 ? weights.data() + r * n : nullptr, binary, bins, out + r * bins);
  return absl::OkStatus();
}

template <class T>
Status check_histogram(const In<T>& range, const In<std::int32_t>& nbins) {
  if (range.dims() != 1) return invalid("value_range should be a vector.");
  if (range.size() != 2) return invalid("value_range should be a vector of 2 elements.");
  if (nbins.dims() != 0) return invalid("nbins should be a scalar.");
  if (!(range[0] < range[1])) return invalid("value_range should satisfy value_range[0] < value_range[1], but got '[{}, {}]'", range[0], range[1]);
  if (nbins[0] <= 0) return invalid("nbins should be a positive number, but got '{}'", nbins[0]);
  return absl::OkStatus();
}

template <class T>
Status histogram(Call& call, const In<T>& values, const In<T>& range, const In<std::int32_t>& nbins, DType type) {
  TRY(check_histogram(range, nbins));
  const std::int64_t bins = nbins[0];
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), 0);
  const double low = static_cast<double>(range[0]), step = (static_cast<double>(range[1]) - low) / static_cast<double>(bins);
  for (const T& value : values.values()) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) return invalid("Histogram values must not contain NaN");
    const double place = (static_cast<double>(value) - low) / step;
    const double bin = std::clamp(place, 0.0, static_cast<double>(bins - 1));
    ++counts[static_cast<std::size_t>(bin)];
  }
  visit_dtype(indices{}, type, [&]<class I>() {
    std::transform(counts.begin(), counts.end(), call.alloc<I>(0, Shape{bins}), [](std::int64_t n) { return static_cast<I>(n); });
  });
  return absl::OkStatus();
}

template <class T>
Status bucketize(Call& call, const In<T>& x, const std::vector<float>& boundaries) {
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) return invalid("Expected sorted boundaries");
  std::int32_t* out = call.alloc<std::int32_t>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i)
    out[i] = static_cast<std::int32_t>(std::upper_bound(boundaries.begin(), boundaries.end(), x[i]) - boundaries.begin());
  return absl::OkStatus();
}

}  // namespace

void add_counting(Registry& ops) {
  using counted = types<std::int32_t, std::int64_t, float, double>;
  ops.add({"Bincount"}, counted{},
          []<class T>(Call& call, Any arr, Any size, In<T> weights) { return bincount(call, arr.tensor, size.tensor, weights); });
  ops.add({"DenseBincount"}, counted{}, []<class T>(Call& call, Any input, Any size, In<T> weights, Attr<"binary_output", bool> binary) {
    return dense_bincount(call, input.tensor, size.tensor, weights, binary);
  });
  ops.add({"HistogramFixedWidth"}, counted{}, []<class T>(Call& call, In<T> values, In<T> range, In<std::int32_t> nbins, Attr<"dtype", DType> type) {
    return histogram(call, values, range, nbins, type);
  });
  ops.add({"Bucketize"}, counted{},
          []<class T>(Call& call, In<T> x, Attr<"boundaries", std::vector<float>> boundaries) { return bucketize(call, x, boundaries); });
}

}  // namespace troupe
