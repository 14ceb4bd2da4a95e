// A tensor with a margin of one value round it.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

Status pad(Call& call, const Tensor& x, const Tensor& paddings, const Tensor* value) {
  if (paddings.rank() != 2 || paddings.dim(1) != 2) return invalid("paddings must be a matrix with 2 columns: {}", paddings.shape());
  if (paddings.dim(0) != x.rank()) return invalid("The first dimension of paddings must be the rank of inputs{} {}", paddings.shape(), x.shape());
  if (value && value->rank() != 0) return invalid("constant_values must be a scalar. Found: {}", value->shape());
  const Dims sides = as_dims(paddings), from = steps_of(x.shape());
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    const std::int64_t before = sides[static_cast<std::size_t>(2 * d)], after = sides[static_cast<std::size_t>(2 * d + 1)];
    if (before < 0 || after < 0) return invalid("Paddings must be non-negative: {} {}", before, after);
    const std::uint64_t n = static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(after) + static_cast<std::uint64_t>(x.dim(d));
    if (static_cast<std::int64_t>(n) < 0) return invalid("Expected a non-negative size, got {}", static_cast<std::int64_t>(n));
    shape.add_dim(static_cast<std::int64_t>(n));
  }
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  if (shape == x.shape()) {
    call.set(0, x);
    return absl::OkStatus();
  }
  if (value) fill_with(*value, call.alloc(0, x.dtype(), shape));
  else call.set(0, Tensor::zeros(x.dtype(), shape));
  const Dims to = steps_of(shape);
  Walk walk;
  for (std::size_t d = 0; d < to.size(); ++d) {
    walk.to += sides[2 * d] * to[d];
    walk.add(x.dim(static_cast<int>(d)), from[d], to[d]);
  }
  copy_along(walk, x, call.out(0));
  return absl::OkStatus();
}

}  // namespace

void add_pad(Registry& ops) {
  const ForTypes types{"T", dtypes::plain_strings() + dtypes::quantized()};
  add_for(ops, "Pad", {types}, [](Call& call, Any x, Any paddings) { return pad(call, x.tensor, paddings.tensor, nullptr); });
  add_for(ops, "PadV2", {types}, [](Call& call, Any x, Any paddings, Any value) { return pad(call, x.tensor, paddings.tensor, &value.tensor); });
}

}  // namespace troupe
