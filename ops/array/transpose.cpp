// Dimensions in another order.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

Status check_permutation(const Tensor& perm, const Dims& order, int rank) {
  if (perm.rank() != 1) return invalid("perm must be rank 1, got shape {}", perm.shape());
  if (perm.size() != rank) return invalid("transpose expects a vector of size {}. But input(1) is a vector of size {}", rank, perm.size());
  std::vector<bool> seen(order.size(), false);
  for (std::int64_t d : order) {
    if (d < 0 || d >= rank) return invalid("{} is out of range [0 .. {})", d, rank);
    seen[static_cast<std::size_t>(d)] = true;
  }
  for (std::size_t d = 0; d < seen.size(); ++d)
    if (!seen[d]) return invalid("{} is missing from {{{}}}.", d, fmt::join(order.begin(), order.end(), ","));
  return absl::OkStatus();
}

/// Whether the order moves nothing but dimensions of size one.
bool keeps_layout(const Shape& shape, const Dims& order) {
  std::int64_t last = -1;
  for (std::int64_t d : order) {
    if (shape.dim(static_cast<int>(d)) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

Status transpose(Call& call, const Tensor& x, const Tensor& perm) {
  Dims order = as_dims(perm);
  for (std::int64_t& d : order)
    if (d < 0) d += x.rank();
  TRY(check_permutation(perm, order, x.rank()));
  Shape shape;
  for (std::int64_t d : order) shape.add_dim(x.dim(static_cast<int>(d)));
  if (x.size() == 0 || keeps_layout(x.shape(), order)) {
    call.set(0, x.reshaped(std::move(shape)));
    return absl::OkStatus();
  }
  if (x.dtype() == DType::resource || x.dtype() == DType::variant) return unimplemented("Unsupported dtype on CPU: {}", static_cast<int>(x.dtype()));
  const Dims from = steps_of(x.shape()), to = steps_of(shape);
  Walk walk;
  for (std::size_t d = 0; d < order.size(); ++d) walk.add(shape.dim(static_cast<int>(d)), from[static_cast<std::size_t>(order[d])], to[d]);
  copy_along(walk, x, call.alloc(0, x.dtype(), shape));
  return absl::OkStatus();
}

template <class T>
void conjugate(Call& call) {
  const Tensor moved = std::move(call.out(0));
  T* to = call.alloc<T>(0, moved.shape());
  std::transform(moved.data<T>(), moved.data<T>() + moved.size(), to, [](const T& z) { return std::conj(z); });
}

template <class I>
Status invert(Call& call, In<I> x) {
  if (x.dims() != 1) return invalid("invert_permutation expects a 1D vector.");
  I* out = call.alloc<I>(0, x.shape());
  std::fill_n(out, x.size(), I{-1});
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const I at = x[i];
    if (at < 0 || at >= x.size()) return invalid("{} is not between 0 and {}", at, x.size());
    if (out[at] != -1) return invalid("{} is duplicated in the input.", at);
    out[at] = static_cast<I>(i);
  }
  return absl::OkStatus();
}

}  // namespace

void add_transpose(Registry& ops) {
  const ForTypes types{"T", dtypes::all() + dtypes::float8()};
  add_for(ops, "Transpose", {types}, [](Call& call, Any x, Any perm) { return transpose(call, x.tensor, perm.tensor); });
  add_for(ops, "ConjugateTranspose", {types}, [](Call& call, Any x, Any perm) -> Status {
    TRY(transpose(call, x.tensor, perm.tensor));
    if (x->dtype() == DType::c64) conjugate<complex64>(call);
    if (x->dtype() == DType::c128) conjugate<complex128>(call);
    return absl::OkStatus();
  });
  ops.add("InvertPermutation", indices{}, []<class I>(Call& call, In<I> x) { return invert<I>(call, x); });
}

}  // namespace troupe
