// Slices by begin and size.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// Sizes with -1 resolved, checked against the shape.
StatusOr<Dims> slice_sizes(const Shape& shape, const Dims& begin, Dims size) {
  for (std::size_t d = 0; d < size.size(); ++d) {
    const std::int64_t n = shape.dim(static_cast<int>(d)), b = begin[d];
    if (size[d] == -1 && b >= 0) size[d] = n - b;
    if (n == 0 && (b != 0 || size[d] != 0))
      return invalid("Expected begin[{}] == 0 (got {}) and size[{}] == 0 (got {}) when input.dim_size({}) == 0", d, b, d, size[d], d);
    if (b < 0 || b > n) return invalid("Expected begin[{}] in [0, {}], but got {}", d, n, b);
    if (size[d] < 0 || size[d] > n - b) return invalid("Expected size[{}] in [0, {}], but got {}", d, n - b, size[d]);
  }
  return size;
}

Status slice(Call& call, Any x, Any begins, Any sizes) {
  if (begins->rank() != 1 || sizes->rank() != 1 || begins->size() != x->rank() || sizes->size() != x->rank())
    return invalid("Expected begin and size arguments to be 1-D tensors of size {}, but got shapes {} and {} instead.", x->rank(), begins->shape(),
                   sizes->shape());
  const Dims begin = as_dims(begins.tensor), steps = steps_of(x->shape());
  TRY_ASSIGN(const Dims size, slice_sizes(x->shape(), begin, as_dims(sizes.tensor)));
  const Shape result(std::span<const std::int64_t>(size.data(), size.size()));
  const Dims to_steps = steps_of(result);
  Walk walk;
  bool rows = x->rank() > 0;
  for (std::size_t d = 0; d < size.size(); ++d) {
    rows = rows && (d == 0 || size[d] == x->dim(static_cast<int>(d)));
    walk.from += begin[d] * steps[d];
    walk.add(size[d], steps[d], to_steps[d]);
  }
  if (x->rank() == 0) call.set(0, x.tensor);
  else if (rows) call.set(0, x->rows(begin[0], begin[0] + size[0]));
  else copy_along(walk, x.tensor, call.alloc(0, x->dtype(), result));
  return absl::OkStatus();
}

}  // namespace

void add_slice(Registry& ops) {
  add_for(ops, "Slice", {{"T", dtypes::plain_strings() + dtypes::quantized() + dtypes::float8()}},
          [](Call& call, Any x, Any begin, Any size) { return slice(call, x, begin, size); });
}

}  // namespace troupe
