// A tensor with a margin that mirrors it, and the gradient of that.
#include <troupe/ops/array/tables.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

namespace troupe {
namespace {

/// How far the mirror stands from the edge: on the last element (REFLECT, 1) or behind it (SYMMETRIC, 0).
std::int64_t offset_of(const std::string& mode) { return mode == "REFLECT" ? 1 : 0; }

/// For each place of the padded tensor, where in the plain one its element is.
Tables mirrored(const Shape& plain, const Dims& sides, std::int64_t offset) {
  const Dims steps = steps_of(plain);
  Tables places;
  for (std::size_t d = 0; d < steps.size(); ++d) {
    const std::int64_t n = plain.dim(static_cast<int>(d));
    auto& table = places.tables.emplace_back();
    for (std::int64_t i = -sides[2 * d]; i < n + sides[2 * d + 1]; ++i) {
      std::int64_t at = i;
      if (at < 0) at = -at - 1 + offset;
      else if (at >= n) at = 2 * n - 1 - offset - at;
      table.push_back(at * steps[d]);
    }
  }
  return places;
}

Status mirror_pad(Call& call, const Tensor& x, const Tensor& paddings, std::int64_t offset) {
  if (paddings.rank() != 2 || paddings.dim(1) != 2) return invalid("paddings must be a matrix with 2 columns: {}", paddings.shape());
  if (paddings.dim(0) != x.rank()) return invalid("The first dimension of paddings must be the rank of inputs{}, {}", paddings.shape(), x.shape());
  const Dims sides = as_dims(paddings);
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    const std::int64_t before = sides[static_cast<std::size_t>(2 * d)], after = sides[static_cast<std::size_t>(2 * d + 1)], n = x.dim(d);
    if (before < 0 || after < 0) return invalid("paddings must be non-negative: {} {}", before, after);
    if (offset == 0 && (before > n || after > n))
      return invalid("paddings must be no greater than the dimension size: {}, {} greater than {}", before, after, n);
    if (offset == 1 && (before >= n || after >= n))
      return invalid("paddings must be less than the dimension size: {}, {} not less than {}", before, after, n);
    shape.add_dim(before + n + after);
  }
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  Tensor& out = call.alloc(0, x.dtype(), shape);
  if (out.size() == 0) return absl::OkStatus();
  const Tables places = mirrored(x.shape(), sides, offset);
  by_storage(out.dtype(), [&]<class S>() {
    const S* from = x.data<S>();
    S* to = out.mutable_data<S>();
    places.for_each([&](std::int64_t at) { *to++ = from[at]; });
  });
  return absl::OkStatus();
}

Status mirror_pad_gradient(Call& call, const Tensor& dy, const Tensor& paddings, std::int64_t offset) {
  if (paddings.rank() != 2 || paddings.dim(1) != 2) return invalid("paddings must be a matrix with 2 columns: {}", paddings.shape());
  if (paddings.dim(0) != dy.rank()) return invalid("The first dimension of paddings must be the rank of inputs{} {}", paddings.shape(), dy.shape());
  const Dims sides = as_dims(paddings);
  Shape shape;
  for (int d = 0; d < dy.rank(); ++d) {
    const std::int64_t before = sides[static_cast<std::size_t>(2 * d)], after = sides[static_cast<std::size_t>(2 * d + 1)], n = dy.dim(d);
    if (before < 0 || after < 0) return invalid("Paddings must be non-negative: {}, {}", before, after);
    if (before >= n || after >= n || before + after >= n)
      return invalid("Total paddings must be less than the input dimension size: {} was not less than {}", before + after, n);
    const std::int64_t plain = n - before - after;
    if (offset == 0 && (before > plain || after > plain))
      return invalid("paddings must be no greater than the output dimension size: {}, {} greater than {}", before, after, plain);
    if (offset == 1 && (before >= plain || after >= plain))
      return invalid("paddings must be less than the output dimension size: {}, {} not less than {}", before, after, plain);
    shape.add_dim(plain);
  }
  call.set(0, Tensor::zeros(dy.dtype(), shape));
  const Tables places = mirrored(shape, sides, offset);
  visit_dtype(numbers{}, dy.dtype(), [&]<class T>() {
    const T* from = dy.data<T>();
    T* to = call.out(0).mutable_data<T>();
    places.for_each([&](std::int64_t at) { to[at] = wrap_add(to[at], *from++); });
  });
  return absl::OkStatus();
}

}  // namespace

void add_mirror_pad(Registry& ops) {
  add_for(
      ops, "MirrorPad", {{"T", dtypes::plain_strings() + dtypes::quantized()}},
      [](Call& call, Any x, Any paddings, Attr<"mode", std::string> mode) { return mirror_pad(call, x.tensor, paddings.tensor, offset_of(*mode)); });
  add_for(ops, "MirrorPadGrad", {{"T", dtypes::numeric()}}, [](Call& call, Any dy, Any paddings, Attr<"mode", std::string> mode) {
    return mirror_pad_gradient(call, dy.tensor, paddings.tensor, offset_of(*mode));
  });
}

}  // namespace troupe
