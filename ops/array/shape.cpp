// Shapes as data, and the same elements under another shape.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <limits>

namespace troupe {
namespace {

bool fits(std::int64_t n, DType type) { return type != DType::i32 || n < std::numeric_limits<std::int32_t>::max(); }

void write_shape(Call& call, int output, DType type, const Shape& shape) {
  by_index(type, [&]<class O>() { std::copy(shape.begin(), shape.end(), call.alloc<O>(output, Shape{shape.rank()})); });
}

/// Product of the sizes that are known and not zero, and which one is to be inferred.
struct Sizes {
  Dims dims;
  std::int64_t product = 1;
  int unknown = -1;
  bool has_zero = false;
};

StatusOr<Sizes> read_sizes(const Tensor& sizes) {
  if (sizes.rank() > 1) return invalid("sizes input must be 1-D, not {}", sizes.shape());
  if (sizes.size() >= Shape::max_rank) return invalid("too many dimensions: must be < {}, but received {}", Shape::max_rank, sizes.size());
  Sizes s{.dims = as_dims(sizes)};
  for (int d = 0; d < static_cast<int>(s.dims.size()); ++d) {
    const std::int64_t n = s.dims[static_cast<std::size_t>(d)];
    if (n == -1) {
      if (s.unknown >= 0) return invalid("Only one input size may be -1, not both {} and {}", s.unknown, d);
      s.unknown = d;
    } else if (n < 0) {
      return invalid("Size {} must be non-negative, not {}", d, n);
    } else if (n == 0) {
      s.has_zero = true;
    } else if (__builtin_mul_overflow(s.product, n, &s.product)) {
      return invalid("Shape [{}] has too many elements", fmt::join(s.dims.begin(), s.dims.end(), ", "));
    }
  }
  return s;
}

Status reshape(Call& call, Any x, Any sizes) {
  TRY_ASSIGN(Sizes s, read_sizes(sizes.tensor));
  if (s.unknown >= 0) {
    // Where both sides are empty, the sizes that are not zero still have to say what is missing.
    std::int64_t elements = 1;
    bool skipped = false;
    for (std::int64_t n : x->shape()) {
      if (n > 0 || !s.has_zero) elements *= n;
      else skipped = true;
    }
    const std::int64_t missing = elements / s.product;
    if (!skipped && missing * s.product != elements)
      return invalid("Input to reshape is a tensor with {} values, but the requested shape requires a multiple of {}", elements, s.product);
    s.dims[static_cast<std::size_t>(s.unknown)] = missing;
  }
  Shape shape(std::span<const std::int64_t>(s.dims.data(), s.dims.size()));
  if (shape.elements() != x->size())
    return invalid("Input to reshape is a tensor with {} values, but the requested shape has {}", x->size(), shape.elements());
  call.set(0, x->reshaped(std::move(shape)));
  return absl::OkStatus();
}

Status expand_dims(Call& call, Any x, Any dim) {
  if (x->dtype() == DType::variant) return invalid("ExpandDims on Variant not supported");
  if (dim->size() != 1) return invalid("'dim' must be a tensor with a single value");
  const std::int64_t at = as_integer(dim.tensor);
  if (at < -1 - x->rank() || at > x->rank()) return invalid("Tried to expand dim index {} for tensor with {} dimensions.", at, x->rank());
  Shape shape = x->shape();
  shape.insert_dim(static_cast<int>(at < 0 ? at + x->rank() + 1 : at), 1);
  call.set(0, x->reshaped(std::move(shape)));
  return absl::OkStatus();
}

Status squeeze(Call& call, Any x, const std::vector<std::int64_t>& dims) {
  if (x->dtype() == DType::variant) return invalid("Squeeze on Variant not supported");
  std::vector<bool> chosen(static_cast<std::size_t>(x->rank()), dims.empty());
  for (std::int64_t d : dims) {
    if (d < -x->rank() || d >= x->rank()) return invalid("Tried to squeeze dim index {} for tensor with {} dimensions.", d, x->rank());
    chosen[static_cast<std::size_t>(d < 0 ? d + x->rank() : d)] = true;
  }
  Shape shape;
  for (int i = 0; i < x->rank(); ++i) {
    const bool squeezed = chosen[static_cast<std::size_t>(i)];
    if (squeezed && !dims.empty() && x->dim(i) != 1) return invalid("Can not squeeze dim[{}], expected a dimension of 1, got {}", i, x->dim(i));
    if (!squeezed || x->dim(i) != 1) shape.add_dim(x->dim(i));
  }
  call.set(0, x->reshaped(std::move(shape)));
  return absl::OkStatus();
}

}  // namespace

void add_shape(Registry& ops) {
  ops.add("Shape", [](Call& call, Any x, Attr<"out_type", DType> type) -> Status {
    for (int i = 0; i < x->rank(); ++i)
      if (!fits(x->dim(i), type)) return invalid("Shape output type is 32-bit  but dim {} is {}", i, x->dim(i));
    write_shape(call, 0, type, x->shape());
    return absl::OkStatus();
  });
  ops.add("ShapeN", [](Call& call, List xs, Attr<"out_type", DType> type) -> Status {
    for (int i = 0; i < xs.size(); ++i) {
      for (int j = 0; j < xs[i].rank(); ++j)
        if (!fits(xs[i].dim(j), type)) return invalid("ShapeN output type is 32-bit but shape {} dim {} is {}", i, j, xs[i].dim(j));
      write_shape(call, i, type, xs[i].shape());
    }
    return absl::OkStatus();
  });
  ops.add("Size", [](Call& call, Any x, Attr<"out_type", DType> type) -> Status {
    if (!fits(x->size(), type)) return invalid("Number of elements was larger than representable by 32-bit output type");
    by_index(type, [&]<class O>() { call.set_scalar<O>(0, static_cast<O>(x->size())); });
    return absl::OkStatus();
  });
  ops.add("Rank", [](Call& call, Any x) { call.set_scalar<std::int32_t>(0, x->rank()); });
  add_for(ops, "Reshape", {}, [](Call& call, Any x, Any sizes) { return reshape(call, x, sizes); });
  add_for(ops, "ExpandDims", {}, [](Call& call, Any x, Any dim) { return expand_dims(call, x, dim); });
  ops.add("Squeeze", [](Call& call, Any x, Attr<"squeeze_dims", std::vector<std::int64_t>> dims) { return squeeze(call, x, *dims); });
}

}  // namespace troupe
