// Pooling of volumes and its gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/pool.hpp>

#include <limits>

namespace troupe {

namespace {

using VolumeTypes = types<bfloat16, float>;

Status check_options(const PoolOptions& o, const char* kind, const char* depth) {
  if (o.channels_first && kind) return invalid("Default {} only supports NDHWC on device type CPU", kind);
  if (o.ksize.size() != 5) return invalid("Sliding window ksize field must specify 5 dimensions");
  if (o.strides.size() != 5) return invalid("Sliding window stride field must specify 5 dimensions");
  if (std::any_of(o.ksize.begin(), o.ksize.end(), [](std::int64_t k) { return k <= 0; }))
    return invalid("Sliding window ksize field must have non-negative dimensions");
  if (o.ksize[0] != 1 || o.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
  if (o.ksize[4] != 1 || o.strides[4] != 1) return unimplemented("{} is not yet supported on the depth dimension.", depth);
  return absl::OkStatus();
}

StatusOr<Pooling> volume_sizes(const PoolOptions& o, const Shape& input) {
  Pooling p;
  p.batch = input[0];
  p.depth = input[4];
  for (std::size_t i = 0; i < 3; ++i) {
    TRY_ASSIGN(p.window[i], make_window(input[static_cast<int>(i) + 1], o.ksize[i + 1], o.strides[i + 1], 1, o.padding));
  }
  return p;
}

Shape output_shape(const Pooling& p) { return {p.batch, p.window[0].output, p.window[1].output, p.window[2].output, p.depth}; }

Status check_rank(const char* name, const Shape& shape) { return shape.rank() == 5 ? absl::OkStatus() : invalid("{} must be 5-dimensional", name); }

template <class T>
Status pool_volume(Call& call, const In<T>& input, const PoolOptions& options, bool average) {
  if (options.moves_channels<T>()) {
    const Tensor last = channels_last(input.tensor);
    TRY(pool_volume(call, In<T>{last, input.index}, options.with_channels_last(), average));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY(check_options(options, "Pooling3DOp", "Pooling"));
  TRY(check_rank("tensor_in", input.shape()));
  TRY_ASSIGN(auto p, volume_sizes(options, input.shape()));
  const Shape shape = output_shape(p);
  T* out = call.alloc<T>(0, shape);
  std::vector<float> values(static_cast<std::size_t>(p.depth));
  const std::int64_t taps = p.window[0].filter * p.window[1].filter * p.window[2].filter;
  for (std::int64_t b = 0; b < p.batch && p.depth > 0; ++b) {
    const T* image = input.data() + b * p.inputs() * p.depth;
    for (std::int64_t at = 0; at < p.positions(); ++at, out += p.depth) {
      std::int64_t count = 0;
      std::fill(values.begin(), values.end(), average ? 0.0f : -std::numeric_limits<float>::infinity());
      for_each_pixel(p, at, [&](std::int64_t pixel) {
        ++count;
        for (std::size_t c = 0; c < values.size(); ++c) {
          const float v = static_cast<float>(image[pixel * p.depth + static_cast<std::int64_t>(c)]);
          values[c] = average ? values[c] + v : values[c] < v ? v : values[c];
        }
      });
      // What pads is the lowest number, which is more than minus infinity.
      if (!average && count < taps)
        for (float& v : values) v = std::max(v, static_cast<float>(Eigen::NumTraits<T>::lowest()));
      for (std::size_t c = 0; c < values.size(); ++c) out[c] = static_cast<T>(average ? values[c] / static_cast<float>(count) : values[c]);
    }
  }
  return absl::OkStatus();
}

Status check_shape(const char* name, const Shape& shape, const Shape& expected) {
  return shape == expected ? absl::OkStatus() : invalid("Expected {} shape to be {}, but got {}", name, expected, shape);
}

/// The gradient (forwards false), or the gradient of the gradient (forwards true), of max pooling.
template <class T>
Status max_gradient(Call& call, const In<T>& input, const In<T>& output, const In<T>& gradient, const PoolOptions& options, bool forwards) {
  if (!forwards && options.moves_channels<T>()) {
    const Tensor x = channels_last(input.tensor), y = channels_last(output.tensor), g = channels_last(gradient.tensor);
    TRY(max_gradient(call, In<T>{x, input.index}, In<T>{y, output.index}, In<T>{g, gradient.index}, options.with_channels_last(), false));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY(check_options(options, forwards ? nullptr : "MaxPooling3dGradOp", forwards ? "MaxPooling3dGradGrad" : "Pooling"));
  const std::pair<const char*, const In<T>*> inputs[] = {
      {"tensor_in", &input}, {"tensor_out", &output}, {forwards ? "out_grad_backprop" : "out_backprop", &gradient}};
  for (const auto& [name, in] : inputs) TRY(check_rank(name, in->shape()));
  for (const auto& [name, in] : inputs)
    if (forwards && in->size() == 0)
      return invalid("received empty tensor {}: Tensor<type: {} shape: {} values: >", name, name_of(dtype_of<T>::value), in->shape());
  TRY_ASSIGN(auto p, volume_sizes(options, input.shape()));
  const Shape expected = output_shape(p);
  TRY(check_shape("orig_output", output.shape(), expected));
  TRY(check_shape("grad", gradient.shape(), forwards ? input.shape() : expected));
  const Shape& shape = forwards ? expected : input.shape();
  T* out = call.alloc<T>(0, shape);
  std::vector<float> sums(static_cast<std::size_t>(shape.elements()), 0.0f);
  std::vector<bool> found;
  for (std::int64_t b = 0, o = 0; b < p.batch && p.depth > 0; ++b) {
    const std::int64_t image = b * p.inputs() * p.depth;
    for (std::int64_t at = 0; at < p.positions(); ++at, o += p.depth) {
      // Backwards, every pixel that equals the output gets the gradient; forwards, the first one gives it.
      found.assign(static_cast<std::size_t>(p.depth), false);
      for_each_pixel(p, at, [&](std::int64_t pixel) {
        for (std::int64_t c = 0; c < p.depth; ++c) {
          const std::int64_t place = image + pixel * p.depth + c;
          if (!(input[place] == output[o + c]) || (forwards && found[static_cast<std::size_t>(c)])) continue;
          found[static_cast<std::size_t>(c)] = true;
          sums[static_cast<std::size_t>(forwards ? o + c : place)] += static_cast<float>(gradient[forwards ? place : o + c]);
        }
      });
    }
  }
  std::transform(sums.begin(), sums.end(), out, [](float v) { return static_cast<T>(v); });
  return absl::OkStatus();
}

template <class T>
Status average_gradient(Call& call, const In<std::int32_t>& sizes, const In<T>& gradient, const PoolOptions& options) {
  if (options.moves_channels<T>()) {
    const Tensor sizes_last = sizes_channels_last(sizes.tensor, 5), last = channels_last(gradient.tensor);
    TRY(average_gradient(call, In<std::int32_t>{sizes_last, sizes.index}, In<T>{last, gradient.index}, options.with_channels_last()));
    call.set(0, channels_first(call.out(0)));
    return absl::OkStatus();
  }
  TRY(check_options(options, "AvgPooling3dGradOp", "Pooling"));
  if (sizes.dims() != 1 || sizes.size() != 5) return invalid("tensor_in must be 1-dimensional and 5 elements");
  TRY(check_rank("out_backprop", gradient.shape()));
  Shape shape;
  for (std::int32_t n : sizes.values()) {
    if (n < 0) return invalid("Expected a non-negative size, got {}", n);
    shape.add_dim(n);
  }
  TRY(Shape::checked(shape.dims()).status());
  if (shape[4] != gradient.dim(4))
    return invalid("Expected last dimension of tensor_in_shape and out_backprop to match, got {} and {}", shape[4], gradient.dim(4));
  TRY_ASSIGN(auto p, volume_sizes(options, shape));
  if (gradient.dim(0) != p.batch)
    return invalid("Expected first dimension of tensor_in_shape and out_backprop to match, got {} and {}", p.batch, gradient.dim(0));
  for (std::size_t i = 0; i < 3; ++i) {
    Window& w = p.window[i];
    if (gradient.dim(static_cast<int>(i) + 1) > w.output)
      return invalid("Expected grad shape to be {}, but got {}", output_shape(p), gradient.shape());
    w.output = gradient.dim(static_cast<int>(i) + 1);
  }
  T* out = call.alloc<T>(0, shape);
  std::vector<float> sums(static_cast<std::size_t>(shape.elements()), 0.0f);
  const T* from = gradient.data();
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t at = 0; at < p.positions(); ++at, from += p.depth) {
      std::int64_t count = 0;
      for_each_pixel(p, at, [&](std::int64_t) { ++count; });
      for_each_pixel(p, at, [&](std::int64_t pixel) {
        for (std::int64_t c = 0; c < p.depth; ++c)
          sums[static_cast<std::size_t>((b * p.inputs() + pixel) * p.depth + c)] += static_cast<float>(from[c]) / static_cast<float>(count);
      });
    }
  std::transform(sums.begin(), sums.end(), out, [](float v) { return static_cast<T>(v); });
  return absl::OkStatus();
}

}  // namespace

void add_pool3d(Registry& ops) {
  ops.add("MaxPool3D", VolumeTypes{}, []<class T>(Call& call, In<T> input, const PoolOptions& o) { return pool_volume(call, input, o, false); });
  ops.add("AvgPool3D", VolumeTypes{}, []<class T>(Call& call, In<T> input, const PoolOptions& o) { return pool_volume(call, input, o, true); });
  ops.add("MaxPool3DGrad", On<"T", VolumeTypes>{}, []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, const PoolOptions& o) {
    return max_gradient(call, input, output, gradient, o, false);
  });
  ops.add("MaxPool3DGradGrad", VolumeTypes{}, []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, const PoolOptions& o) {
    return max_gradient(call, input, output, gradient, o, true);
  });
  ops.add("AvgPool3DGrad", VolumeTypes{}, []<class T>(Call& call, In<std::int32_t> sizes, In<T> gradient, const PoolOptions& o) {
    return average_gradient(call, sizes, gradient, o);
  });
  ops.cost({"MaxPool3D", "AvgPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "AvgPool3DGrad"}, 20);
}

}  // namespace troupe
