// Flat indices as coordinates of an array.
#include <troupe/ops/kernel.hpp>

#include <limits>

namespace troupe {
namespace {

template <class T>
Status check_dims(In<T> dims) {
  if (dims.dims() != 1) return invalid("The indices can only be 1-D, got \"{}\"", dims.shape());
  for (std::int64_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 0) return invalid("Input dims cannot contain a dim of zero, but dims contains zero at index {}", i);
  T product = 1;
  for (std::int64_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) return invalid("Input dims cannot be negative. Got dim = {} at index {}", dims[i], i);
    if (__builtin_mul_overflow(product, dims[i], &product))
      return invalid("Input dims product is causing integer overflow: ({})", fmt::join(dims.values(), " "));
  }
  return absl::OkStatus();
}

template <class T>
Status unravel(Call& call, In<T> indices, In<T> dims) {
  if (indices.dims() > 1) return invalid("The indices can only be scalar or vector, got \"{}\"", indices.shape());
  TRY(check_dims<T>(dims));
  T total = 1;
  for (T d : dims.values()) total *= d;
  for (T index : indices.values())
    if (index >= total) return invalid("index is out of bound as with dims");
  const std::int64_t n = indices.size();
  T* out = call.alloc<T>(0, indices.dims() == 0 ? Shape{dims.size()} : Shape{dims.size(), n});
  T inner = total;
  for (std::int64_t d = 0; d < dims.size(); ++d) {
    const T outer = inner;
    inner /= dims[d];
    for (std::int64_t i = 0; i < n; ++i) out[d * n + i] = static_cast<T>(indices[i] % outer / inner);
  }
  return absl::OkStatus();
}

}  // namespace

void add_unravel_index(Registry& ops) {
  ops.add("UnravelIndex", On<"Tidx", indices>{}, []<class T>(Call& call, In<T> at, In<T> dims) { return unravel<T>(call, at, dims); });
}

}  // namespace troupe
