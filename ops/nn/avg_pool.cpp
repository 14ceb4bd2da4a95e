// Averages of windows and their gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/pool.hpp>
#include <troupe/ops/nn/wide.hpp>

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
  std::vector<Wide<T>> sums(static_cast<std::size_t>(p.depth));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const T* image = input.data() + b * p.inputs() * p.depth;
    for (std::int64_t at = 0; at < p.positions(); ++at, out += p.depth) {
      std::int64_t count = 0;
      std::fill(sums.begin(), sums.end(), Wide<T>(0));
      for_each_pixel(p, at, [&](std::int64_t pixel) {
        ++count;
        for (std::int64_t c = 0; c < p.depth; ++c) sums[static_cast<std::size_t>(c)] += static_cast<Wide<T>>(image[pixel * p.depth + c]);
      });
      for (std::int64_t c = 0; c < p.depth; ++c) out[c] = static_cast<T>(sums[static_cast<std::size_t>(c)] / static_cast<Wide<T>>(count));
    }
  }
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
  std::vector<Wide<T>> sums(static_cast<std::size_t>(p.inputs() * p.depth));
  const T* from = gradient.data();
  for (std::int64_t b = 0; b < p.batch; ++b) {
    std::fill(sums.begin(), sums.end(), Wide<T>(0));
    for (std::int64_t at = 0; at < p.positions(); ++at, from += p.depth) {
      std::int64_t count = 0;
      for_each_pixel(p, at, [&](std::int64_t) { ++count; });
      const Wide<T> share = Wide<T>(1) / static_cast<Wide<T>>(count);
      for_each_pixel(p, at, [&](std::int64_t pixel) {
        for (std::int64_t c = 0; c < p.depth; ++c) sums[static_cast<std::size_t>(pixel * p.depth + c)] += static_cast<Wide<T>>(from[c]) * share;
      });
    }
    out = std::transform(sums.begin(), sums.end(), out, [](Wide<T> v) { return static_cast<T>(v); });
  }
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
