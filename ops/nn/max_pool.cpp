// Largest values of windows.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/pool.hpp>
#include <troupe/ops/parallel.hpp>

namespace troupe {

namespace {

/// Puts into `largest` what is larger; values that are no numbers are passed over.
template <class T>
void keep_largest(const T* values, std::int64_t window, T* largest, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>)
    if (window == 1) {
      ArrayMap<T> kept(largest, n);
      kept = kept.max(ConstArrayMap<T>(values, n));
      return;
    }
  for (std::int64_t c = 0; c < n; ++c) {
    // Channels that are pooled together are compared with the first of them.
    if (window > 1) largest[c] = values[c * window];
    for (std::int64_t k = 0; k < window; ++k)
      if (largest[c] < values[c * window + k]) largest[c] = values[c * window + k];
  }
}

template <class T>
Status max_pool(Call& call, const In<T>& input, const PoolOptions& options) {
  TRY_ASSIGN(auto p, pool_sizes(options, input.shape()));
  const Shape shape = pooled_shape(p);
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  const std::int64_t depth = p.depth / p.depth_window, taps = p.window[1].filter * p.window[2].filter;
  in_parallel(p.batch * p.positions(), 0.5 * static_cast<double>(p.depth * taps), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const T* image = input.data() + i / p.positions() * p.inputs() * p.depth;
      T* to = out + i * depth;
      std::fill_n(to, depth, Eigen::NumTraits<T>::lowest());
      for_each_pixel(p, i % p.positions(), [&](std::int64_t pixel) { keep_largest(image + pixel * p.depth, p.depth_window, to, depth); });
    }
  });
  return absl::OkStatus();
}

template <class T, class I>
Status max_pool_with_places(Call& call, const In<T>& input, const PoolOptions& options, bool batch_in_index) {
  TRY(check_max_pool_options(options, "MaxPoolingOp"));
  if (input.dims() != 4) return invalid("tensor_in must be 4-dimensional (2)");
  if (input.size() == 0) return invalid("tensor_in must not be empty (2)");
  TRY_ASSIGN(auto p, pool_sizes(options, input.shape()));
  if (p.depth_window != 1) return unimplemented("MaxPoolWithArgmax does not support pooling across depth");
  const Shape shape = pooled_shape(p);
  T* out = call.alloc<T>(0, shape);
  I* places = call.alloc<I>(1, shape);
  std::vector<std::int64_t> largest;
  const std::int64_t image_size = p.inputs() * p.depth;
  for (std::int64_t b = 0; b < p.batch && p.depth > 0; ++b) {
    const T* image = input.data() + b * image_size;
    for (std::int64_t at = 0; at < p.positions(); ++at, out += p.depth, places += p.depth) {
      find_largest(p, image, at, largest);
      for (std::int64_t c = 0; c < p.depth; ++c) {
        const std::int64_t place = largest[static_cast<std::size_t>(c)];
        out[c] = place < 0 ? Eigen::NumTraits<T>::lowest() : image[place];
        places[c] = static_cast<I>(place < 0 ? -1 : place + (batch_in_index ? b * image_size : 0));
      }
    }
  }
  return absl::OkStatus();
}

using PoolTypes = types<half, bfloat16, float, double, std::int32_t, std::int64_t, std::uint8_t, std::int16_t, std::int8_t, std::uint16_t>;

}  // namespace

void add_max_pool(Registry& ops) {
  ops.add("MaxPool", PoolTypes{}, []<class T>(Call& call, In<T> input, const PoolOptions& options) -> Status {
    if (options.moves_channels<T>()) {
      const Tensor last = channels_last(input.tensor);
      const PoolOptions o = options.with_channels_last();
      TRY(check_max_pool_options(o, "MaxPoolingOp"));
      TRY(max_pool(call, In<T>{last, input.index}, o));
      call.set(0, channels_first(call.out(0)));
      return absl::OkStatus();
    }
    TRY(check_max_pool_options(options, "MaxPoolingOp"));
    return max_pool(call, input, options);
  });
  ops.add("MaxPoolV2", PoolTypes{},
          []<class T>(Call& call, In<T> input, In<std::int32_t> ksize, In<std::int32_t> strides, const PoolOptions& options) -> Status {
            if (options.channels_first) return invalid("MaxPoolingV2Op only supports NHWC or NCHW_VECT_C. Got: NCHW");
            TRY_ASSIGN(auto o, with_inputs(options, ksize, strides));
            return max_pool(call, input, o);
          });
  ops.add("MaxPoolWithArgmax", On<"T", reals>{}, On<"Targmax", indices>{},
          []<class T, class I>(Call& call, In<T> input, Gives<I>, const PoolOptions& options, Attr<"include_batch_in_index", bool> batch) {
            return max_pool_with_places<T, I>(call, input, options, *batch);
          });
  ops.cost({"MaxPool", "MaxPoolV2", "MaxPoolWithArgmax"}, 10);
}

}  // namespace troupe
