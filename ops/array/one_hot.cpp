// Indices as rows that are on in one place.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

Status one_hot(Call& call, const Tensor& indices, const Tensor& depth, const Tensor& on, const Tensor& off, std::int64_t axis) {
  const int rank = indices.rank() + 1;
  if (axis != -1 && (axis < 0 || axis >= rank)) return invalid("Expected axis to be -1 or between [0, {}).  But received: {}", rank, axis);
  if (depth.rank() != 0) return invalid("depth must be a scalar, but got: {}", depth.shape());
  if (on.rank() != 0) return invalid("on_value must be a scalar, but got: {}", on.shape());
  if (off.rank() != 0) return invalid("off_value must be a scalar, but got: {}", off.shape());
  const std::int64_t n = as_integer(depth);
  if (n < 0) return invalid("depth must be non-negative, got: {}", n);
  const int at = static_cast<int>(axis == -1 ? rank - 1 : axis);
  Shape shape = indices.shape();
  shape.insert_dim(at, n);
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  Tensor& out = call.alloc(0, on.dtype(), shape);
  fill_with(off, out);
  if (out.size() == 0) return absl::OkStatus();
  const std::int64_t after = indices.shape().elements(at, indices.rank());
  by_storage(out.dtype(), [&]<class S>() {
    S* to = out.mutable_data<S>();
    by_index(indices.dtype(), [&]<class I>() {
      for (std::int64_t i = 0; i < indices.size(); ++i) {
        const auto hot = static_cast<std::int64_t>(indices.data<I>()[i]);
        if (hot >= 0 && hot < n) to[(i / after * n + hot) * after + i % after] = *on.data<S>();
      }
    });
  });
  return absl::OkStatus();
}

}  // namespace

void add_one_hot(Registry& ops) {
  add_for(ops, "OneHot", {{"T", dtypes::all()}}, [](Call& call, Any indices, Any depth, Any on, Any off, Attr<"axis", std::int64_t> axis) {
    return one_hot(call, indices.tensor, depth.tensor, on.tensor, off.tensor, axis);
  });
}

}  // namespace troupe
