// Layers on quantised numbers that keep their range: clipped, pooled, joined, reshaped.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/quantized_range.hpp>
#include <troupe/ops/nn/pool.hpp>

#include <vector>

namespace troupe {
namespace {

void give_range(Call& call, QuantizedRange range) {
  call.set_scalar<float>(1, range.low);
  call.set_scalar<float>(2, range.high);
}

Status check_scalar(const Any& t, const char* name) {
  return t->rank() == 0 ? absl::OkStatus() : invalid("{} shape must be rank 0 but is rank {}, received shape: {}", name, t->rank(), t->shape());
}

StatusOr<QuantizedRange> range_in(const Any& low, const Any& high, const char* low_name, const char* high_name) {
  if (low->rank() != 0) return invalid("{} must be rank 0 but is rank {}", low_name, low->rank());
  if (high->rank() != 0) return invalid("{} must be rank 0 but is rank {}", high_name, high->rank());
  return QuantizedRange{low->item<float>(), high->item<float>()};
}

template <class T>
Status clip(Call& call, const In<T>& x, const QuantizedRange& range, std::optional<float> most) {
  const auto low = static_cast<StoredAs<T>>(stored<T>(0, range));
  const auto high = static_cast<StoredAs<T>>(most ? stored<T>(*most, range) : highest_stored<T>);
  T* out = call.alloc<T>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) out[i].value = std::min(std::max(x[i].value, low), high);
  give_range(call, range);
  return absl::OkStatus();
}

struct QuantizedPool : PoolOptions {
  static StatusOr<QuantizedPool> make(Binding& binding) {
    QuantizedPool pool;
    TRY_ASSIGN(pool.ksize, binding.attr<std::vector<std::int64_t>>("ksize"));
    TRY_ASSIGN(pool.strides, binding.attr<std::vector<std::int64_t>>("strides"));
    TRY_ASSIGN(const auto padding, binding.attr<std::string>("padding"));
    TRY_ASSIGN(pool.padding, padding_from(padding));
    pool.channels_first = false;
    if (pool.ksize.size() != 4) return invalid("Sliding window ksize field must specify 4 dimensions");
    if (pool.strides.size() != 4) return invalid("Sliding window strides field must specify 4 dimensions");
    if (pool.ksize[0] != 1 || pool.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
    return pool;
  }
};

/// Calls pool(place, values) for every channel of every window.
template <class T, class F>
Status pooled(Call& call, const In<T>& x, const QuantizedPool& options, F&& reduce) {
  TRY_ASSIGN(const Pooling p, pool_sizes(options, x.shape()));
  if (p.depth_window != 1) return unimplemented("Quantised pooling is not supported on the depth dimension.");
  T* out = call.alloc<T>(0, pooled_shape(p));
  std::vector<std::int64_t> pixels;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const T* image = x.data() + b * p.inputs() * p.depth;
    for (std::int64_t at = 0; at < p.positions(); ++at) {
      pixels.clear();
      for_each_pixel(p, at, [&](std::int64_t pixel) { pixels.push_back(pixel); });
      for (std::int64_t c = 0; c < p.depth; ++c, ++out) out->value = static_cast<StoredAs<T>>(reduce(image + c, p.depth, pixels));
    }
  }
  return absl::OkStatus();
}

template <class T>
Status join(Call& call, const List& values, std::int64_t axis, const List& lows, const List& highs) {
  QuantizedRange whole{0, 0};
  for (int i = 0; i < values.size(); ++i) {
    if (lows[i].rank() != 0 || highs[i].rank() != 0) return invalid("input_mins and input_maxes must be scalars");
    whole.low = std::min(whole.low, lows[i].item<float>());
    whole.high = i == 0 ? highs[0].item<float>() : std::max(whole.high, highs[i].item<float>());
  }
  if constexpr (std::is_signed_v<StoredAs<T>>) {
    whole.high = std::max(-whole.low, whole.high);
    whole.low = -whole.high;
  }
  const Shape& first = values[0].shape();
  const int rank = first.rank();
  const std::int64_t at = axis;
  if (at < 0 || at >= rank) return invalid("ConcatOp : Expected concatenating dimensions in the range [0, {}), but got {}", rank, axis);
  Shape shape = first;
  for (int i = 1; i < values.size(); ++i) {
    const Shape& other = values[i].shape();
    if (other.rank() != rank) return invalid("ConcatOp : Ranks of all input tensors should match: shape[0] = {} vs. shape[{}] = {}", first, i, other);
    for (int d = 0; d < rank; ++d)
      if (d != at && other.dim(d) != first.dim(d))
        return invalid("ConcatOp : Dimensions of inputs should match: shape[0] = {} vs. shape[{}] = {}", first, i, other);
    shape.set_dim(static_cast<int>(at), shape.dim(static_cast<int>(at)) + other.dim(static_cast<int>(at)));
  }
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  T* out = call.alloc<T>(0, shape);
  give_range(call, whole);
  if (shape.elements() == 0) return absl::OkStatus();
  const std::int64_t outer = shape.elements(0, static_cast<int>(at)), row = shape.elements() / outer;
  const Storing<T> storing(whole);
  for (int i = 0; i < values.size(); ++i) {
    const QuantizedRange own{lows[i].item<float>(), highs[i].item<float>()};
    const bool same = own.low == whole.low && own.high == whole.high;
    const Meaning<T> meaning(own);
    const std::int64_t n = values[i].size() / outer;
    const T* from = values[i].data<T>();
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < n; ++k) out[o * row + k].value = same ? from[o * n + k].value : storing(meaning(from[o * n + k].value));
    out += n;
  }
  return absl::OkStatus();
}

}  // namespace

void add_quantized_layers(Registry& ops) {
  ops.add("QuantizedRelu", On<"Tinput", types<quint8, qint32>>{}, []<class T>(Call& call, In<T> x, Any low, Any high) -> Status {
    TRY_ASSIGN(const QuantizedRange range, range_in(low, high, "`min_input`", "`max_input`"));
    return clip(call, x, range, std::nullopt);
  });
  ops.add("QuantizedRelu6", On<"Tinput", types<quint8, qint32>>{}, []<class T>(Call& call, In<T> x, Any low, Any high) -> Status {
    TRY_ASSIGN(const QuantizedRange range, range_in(low, high, "`min_input`", "`max_input`"));
    return clip(call, x, range, 6.0f);
  });
  ops.add("QuantizedMaxPool", types<quint8, qint8>{}, []<class T>(Call& call, In<T> x, Any low, Any high, const QuantizedPool& options) -> Status {
    TRY(check_scalar(low, "min_input"));
    TRY(check_scalar(high, "max_input"));
    const QuantizedRange range{low->item<float>(), high->item<float>()};
    TRY(pooled(call, x, options, [](const T* values, std::int64_t step, const std::vector<std::int64_t>& pixels) {
      std::int64_t most = lowest_stored<T>;
      for (std::int64_t pixel : pixels) most = std::max<std::int64_t>(most, values[pixel * step].value);
      return most;
    }));
    give_range(call, range);
    return absl::OkStatus();
  });
  ops.add("QuantizedAvgPool", types<quint8, qint8>{}, []<class T>(Call& call, In<T> x, Any low, Any high, const QuantizedPool& options) -> Status {
    TRY(check_scalar(low, "min_input"));
    TRY(check_scalar(high, "max_input"));
    const QuantizedRange range{low->item<float>(), high->item<float>()};
    TRY(pooled(call, x, options, [](const T* values, std::int64_t step, const std::vector<std::int64_t>& pixels) {
      std::int64_t sum = 0;
      for (std::int64_t pixel : pixels) sum += values[pixel * step].value;
      return pixels.empty() ? 0 : sum / std::ssize(pixels);
    }));
    give_range(call, range);
    return absl::OkStatus();
  });
  ops.add("QuantizedConcat", types<quint8, qint32>{}, []<class T>(Call& call, Any axis, List values, List lows, List highs, Gives<T>) -> Status {
    if (axis->rank() != 0) return invalid("Concat dim tensor should be a scalar integer, but got shape {}", axis->shape());
    return join<T>(call, values, as_integer(axis.tensor), lows, highs);
  });
  ops.add("QuantizedReshape", [](Call& call, Any x, Any sizes, Any low, Any high) -> Status {
    if (sizes->rank() != 1) return invalid("sizes input must be 1-D, not {}", sizes->shape());
    Dims dims = as_dims(sizes.tensor);
    std::int64_t known = 1, open = -1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == -1) {
        if (open >= 0) return invalid("Only one input size may be -1, not both {} and {}", open, d);
        open = static_cast<std::int64_t>(d);
      } else if (dims[d] < 0) {
        return invalid("Size {} must be non-negative, not {}", d, dims[d]);
      } else if (__builtin_mul_overflow(known, dims[d], &known)) {
        return invalid("The requested shape has too many elements");
      }
    }
    if (open >= 0) {
      if (known == 0) return invalid("Reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero");
      dims[static_cast<std::size_t>(open)] = x->size() / known;
      if (x->size() % known != 0)
        return invalid("Input to reshape is a tensor with {} values, but the requested shape requires a multiple of {}", x->size(), known);
    } else if (known != x->size()) {
      return invalid("Input to reshape is a tensor with {} values, but the requested shape has {}", x->size(), known);
    }
    if (low->size() == 0 || high->size() == 0) return invalid("input_min and input_max must not be empty");
    const QuantizedRange range{low->item<float>(), high->item<float>()};
    call.set(0, x->reshaped(Shape(dims)));
    give_range(call, range);
    return absl::OkStatus();
  });
}

}  // namespace troupe
