// Averages of windows and their gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/pool.hpp>
#include <troupe/ops/nn/wide.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace troupe {

namespace {

Status check_options(const PoolOptions& o, const char* kind, bool positive) {
  if (o.channels_first) return invalid("Default {} only supports NHWC on device type CPU", kind);
  if (o.ksize.size() != 4) return invalid("Sliding window ksize field must specify 4 dimensions");
  if (o.strides.size() != 4) return invalid("Sliding window strides field must specify 4 dimensions");
  for (std::int64_t k : o.ksize)
    if (positive && k <= 0) return invalid("ksize must be a postive int32 value, got:{}", k);
  if (o.ksize[0] != 1 || o.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
  return absl::OkStatus();
}

/// What a value under a window costs, roughly.
constexpr double ns_of_value = 0.5;

std::int64_t taps(const Pooling& p) { return p.window[1].filter * p.window[2].filter; }

std::int64_t pixels_under(const Pooling& p, std::int64_t position) {
  std::int64_t count = 0;
  for_each_pixel(p, position, [&](std::int64_t) { ++count; });
  return count;
}

/// sums += values * factor.
template <class T>
void add_scaled(const T* values, Wide<T> factor, Wide<T>* sums, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t c = 0; c < n; ++c) sums[c] += static_cast<Wide<T>>(values[c]) * factor;
}

template <class T>
Status average_pool(Call& call, const In<T>& input, const PoolOptions& options) {
  if (options.moves_channels<T>()) {
    const Tensor last = channels_last(input.tensor);
    TRY(average_pool(call, In<T>{last, input.index}, options.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY(check_options(options, "AvgPoolingOp", true));
  TRY_ASSIGN(auto p, pool_sizes(options, input.shape()));
  if (p.depth_window != 1) return unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)");
  const Shape shape = pooled_shape(p);
  T* out = call.alloc<T>(0, shape);
  const T* images = input.data();
  in_parallel(p.batch * p.positions(), ns_of_value * static_cast<double>(p.depth * taps(p)), [&](std::int64_t first, std::int64_t last) {
    std::vector<Wide<T>> sums(static_cast<std::size_t>(p.depth));
    for (std::int64_t i = first; i < last; ++i) {
      const T* image = images + i / p.positions() * p.inputs() * p.depth;
      const auto count = static_cast<Wide<T>>(pixels_under(p, i % p.positions()));
      std::fill(sums.begin(), sums.end(), Wide<T>(0));
      for_each_pixel(p, i % p.positions(), [&](std::int64_t pixel) { add_scaled(image + pixel * p.depth, Wide<T>(1), sums.data(), p.depth); });
      T* to = out + i * p.depth;
      const Wide<T>* sum = sums.data();
#pragma GCC ivdep
      for (std::int64_t c = 0; c < p.depth; ++c) to[c] = static_cast<T>(sum[c] / count);
    }
  });
  return absl::OkStatus();
}

template <class T>
Status average_gradient(Call& call, const In<std::int32_t>& sizes, const In<T>& gradient, const PoolOptions& options) {
  if (options.moves_channels<T>()) {
    const Tensor sizes_last = sizes_channels_last(sizes.tensor, 4), last = channels_last(gradient.tensor);
    TRY(average_gradient(call, In<std::int32_t>{sizes_last, sizes.index}, In<T>{last, gradient.index}, options.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY(check_options(options, "AvgPoolingGradOp", false));
  if (sizes.dims() != 1 || sizes.size() != 4) return invalid("out_backprop must be 1-dimensional and 4 elements");
  if (gradient.dims() != 4) return invalid("out_backprop must be 4-dimensional");
  Shape shape;
  for (std::int32_t n : sizes.values()) {
    if (n < 0) return invalid("Expected a non-negative size, got {}", n);
    shape.add_dim(n);
  }
  TRY(Shape::checked(shape.dims()).status());
  if (options.ksize[3] != 1) return unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)");
  TRY_ASSIGN(auto p, pool_sizes(options, shape));
  const Shape expected = pooled_shape(p);
  if (gradient.dim(0) != p.batch || gradient.dim(3) != p.depth || gradient.dim(1) > expected[1] || gradient.dim(2) > expected[2])
    return invalid("Expected grad shape to be {}, but got {}", expected, gradient.shape());
  // A smaller gradient than the pooling's output counts as its upper left part.
  p.window[1].output = gradient.dim(1);
  p.window[2].output = gradient.dim(2);
  T* out = call.alloc<T>(0, shape);
  const std::int64_t image = p.inputs() * p.depth;
  in_parallel(p.batch, ns_of_value * static_cast<double>(p.positions() * p.depth * taps(p)), [&](std::int64_t first, std::int64_t last) {
    // Sums of narrow types are taken apart from the output.
    std::vector<Wide<T>> apart(std::is_same_v<T, Wide<T>> ? 0 : static_cast<std::size_t>(image));
    for (std::int64_t b = first; b < last; ++b) {
      Wide<T>* sums = apart.data();
      if constexpr (std::is_same_v<T, Wide<T>>) sums = out + b * image;
      std::fill_n(sums, image, Wide<T>(0));
      const T* from = gradient.data() + b * p.positions() * p.depth;
      for (std::int64_t at = 0; at < p.positions(); ++at, from += p.depth) {
        const Wide<T> share = Wide<T>(1) / static_cast<Wide<T>>(pixels_under(p, at));
        for_each_pixel(p, at, [&](std::int64_t pixel) { add_scaled(from, share, sums + pixel * p.depth, p.depth); });
      }
      if constexpr (!std::is_same_v<T, Wide<T>>) std::transform(sums, sums + image, out + b * image, [](Wide<T> v) { return static_cast<T>(v); });
    }
  });
  return absl::OkStatus();
}

}  // namespace

void add_avg_pool(Registry& ops) {
  ops.add("AvgPool", floats{}, []<class T>(Call& call, In<T> input, const PoolOptions& options) { return average_pool(call, input, options); });
  ops.add("AvgPoolGrad", floats{}, []<class T>(Call& call, In<std::int32_t> sizes, In<T> gradient, const PoolOptions& options) {
    return average_gradient(call, sizes, gradient, options);
  });
  ops.cost({"AvgPool", "AvgPoolGrad"}, 10);
}

}  // namespace troupe
