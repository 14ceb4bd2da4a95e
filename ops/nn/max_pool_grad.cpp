// Gradients of max pooling, and gradients of those.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/pool.hpp>
#include <troupe/ops/parallel.hpp>

namespace troupe {

namespace {

Status check_rank(const char* name, const Shape& shape) { return shape.rank() == 4 ? absl::OkStatus() : invalid("{} must be 4-dimensional", name); }

template <class T>
Status max_pool_gradient(Call& call, const In<T>& input, const In<T>& output, const In<T>& gradient, const PoolOptions& options) {
  TRY(check_rank("tensor_in", input.shape()));
  TRY(check_rank("tensor_out", output.shape()));
  TRY(check_rank("out_backprop", gradient.shape()));
  if (options.ksize[3] != 1 || options.strides[3] != 1) return unimplemented("MaxPoolingGrad is not yet supported on the depth dimension.");
  TRY_ASSIGN(auto p, pool_sizes(options, input.shape()));
  const Shape expected = pooled_shape(p);
  if (output.shape() != expected) return invalid("Expected orig_output shape to be {}, but got {}", expected, output.shape());
  if (gradient.shape() != expected) return invalid("Expected grad shape to be {}, but got {}", expected, gradient.shape());
  T* out = call.alloc<T>(0, input.shape());
  std::fill_n(out, input.size(), T(0));
  if (p.depth == 0) return absl::OkStatus();
  // Neighbouring windows add to the same pixels: an image stays on one thread.
  const std::int64_t taps = p.window[1].filter * p.window[2].filter;
  in_parallel(p.batch, static_cast<double>(p.positions() * taps * p.depth), [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> largest;
    const T* from = gradient.data() + first * p.positions() * p.depth;
    for (std::int64_t b = first; b < last; ++b) {
      T* image = out + b * p.inputs() * p.depth;
      for (std::int64_t at = 0; at < p.positions(); ++at, from += p.depth) {
        find_largest(p, input.data() + b * p.inputs() * p.depth, at, largest);
        for (std::int64_t c = 0; c < p.depth; ++c)
          if (const std::int64_t place = largest[static_cast<std::size_t>(c)]; place >= 0) image[place] = static_cast<T>(image[place] + from[c]);
      }
    }
  });
  return absl::OkStatus();
}

template <class T>
Status max_pool_gradient_gradient(Call& call, const In<T>& input, const In<T>& output, const In<T>& gradient, const PoolOptions& options) {
  TRY(check_rank("tensor_in", input.shape()));
  TRY(check_rank("tensor_out", output.shape()));
  TRY(check_rank("out_grad_backprop", gradient.shape()));
  if (options.ksize[3] != 1 || options.strides[3] != 1) return unimplemented("MaxPoolingGradGrad is not yet supported on the depth dimension.");
  TRY_ASSIGN(auto p, pool_sizes(options, input.shape()));
  const Shape expected = pooled_shape(p);
  if (output.shape() != expected) return invalid("Expected orig_output shape to be {}, but got {}", expected, output.shape());
  if (gradient.shape() != input.shape()) return invalid("Expected grad shape to be {}, but got {}", input.shape(), gradient.shape());
  T* out = call.alloc<T>(0, expected);
  const T* pooled = output.data();
  std::fill_n(out, expected.elements(), T(0));
  std::vector<bool> found(static_cast<std::size_t>(p.depth));
  for (std::int64_t b = 0; b < p.batch && p.depth > 0; ++b) {
    const std::int64_t image = b * p.inputs() * p.depth;
    for (std::int64_t at = 0; at < p.positions(); ++at, out += p.depth, pooled += p.depth) {
      found.assign(found.size(), false);
      for_each_pixel(p, at, [&](std::int64_t pixel) {
        for (std::int64_t c = 0; c < p.depth; ++c) {
          const std::int64_t place = image + pixel * p.depth + c;
          if (found[static_cast<std::size_t>(c)] || input[place] != pooled[c]) continue;
          out[c] = gradient[place];
          found[static_cast<std::size_t>(c)] = true;
        }
      });
    }
  }
  return absl::OkStatus();
}

template <class T>
Status scatter_gradient(Call& call, const In<T>& input, const In<T>& gradient, const In<std::int64_t>& places, const PoolOptions& options,
                        bool batch_in_index) {
  TRY(check_max_pool_options(options, "MaxPoolingGradWithArgmaxOp"));
  TRY_ASSIGN(auto p, pool_sizes(options, input.shape()));
  const Shape expected = pooled_shape(p);
  if (gradient.shape() != expected) return invalid("Expected grad shape to be {}, but got {}", expected, gradient.shape());
  if (places.shape() != expected) return invalid("Expected argmax shape to be {}, but got {}", expected, places.shape());
  const std::int64_t image = p.inputs() * p.depth, per_image = p.positions() * expected[3];
  for (std::int64_t b = 0, i = 0; b < p.batch; ++b)
    for (std::int64_t end = (b + 1) * per_image; i < end; ++i) {
      const std::int64_t place = places[i] + (batch_in_index ? 0 : b * image);
      if (place < b * image || place >= (b + 1) * image)
        return invalid("Invalid output gradient index: {}, {}, {}", place, b * image, (b + 1) * image);
    }
  T* out = call.alloc<T>(0, input.shape());
  std::fill_n(out, input.size(), T(0));
  for (std::int64_t i = 0; i < places.size(); ++i) {
    T& to = out[places[i] + (batch_in_index ? 0 : i / per_image * image)];
    to = static_cast<T>(to + gradient[i]);
  }
  return absl::OkStatus();
}

}  // namespace

void add_max_pool_grad(Registry& ops) {
  ops.add("MaxPoolGrad", reals{}, []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, const PoolOptions& options) -> Status {
    if (options.moves_channels<T>()) {
      const Tensor x = channels_last(input.tensor), y = channels_last(output.tensor), g = channels_last(gradient.tensor);
      const PoolOptions o = options.with_channels_last();
      TRY(check_max_pool_options(o, "MaxPoolingGradOp"));
      TRY(max_pool_gradient(call, In<T>{x, input.index}, In<T>{y, output.index}, In<T>{g, gradient.index}, o));
      call.set(0, channels_first(call.out(0)));
      return absl::OkStatus();
    }
    TRY(check_max_pool_options(options, "MaxPoolingGradOp"));
    return max_pool_gradient(call, input, output, gradient, options);
  });
  ops.add("MaxPoolGradV2", reals{},
          []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, In<std::int32_t> ksize, In<std::int32_t> strides,
                      const PoolOptions& options) -> Status {
            if (options.channels_first) return invalid("Default MaxPoolingGradOp only supports NHWC on device type CPU");
            TRY_ASSIGN(auto o, with_inputs(options, ksize, strides));
            return max_pool_gradient(call, input, output, gradient, o);
          });
  ops.add("MaxPoolGradGrad", reals{}, []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, const PoolOptions& options) -> Status {
    TRY(check_max_pool_options(options, "MaxPoolingGradGradOp"));
    return max_pool_gradient_gradient(call, input, output, gradient, options);
  });
  ops.add("MaxPoolGradGradV2", reals{},
          []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, In<std::int32_t> ksize, In<std::int32_t> strides,
                      const PoolOptions& options) -> Status {
            if (options.channels_first) return invalid("Default MaxPoolingGradGradOp only supports NHWC on device type CPU");
            TRY_ASSIGN(auto o, with_inputs(options, ksize, strides));
            return max_pool_gradient_gradient(call, input, output, gradient, o);
          });
  ops.add(
      "MaxPoolGradWithArgmax", On<"T", reals>{}, On<"Targmax", types<std::int64_t>>{},
      []<class T, class I>(Call& call, In<T> input, In<T> gradient, In<I> places, const PoolOptions& options,
                           Attr<"include_batch_in_index", bool> batch) { return scatter_gradient(call, input, gradient, places, options, *batch); });
  ops.cost({"MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPoolGradWithArgmax"}, 10);
}

}  // namespace troupe
