// The n-th smallest or largest element of rows.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// An order of all values: NaN comes after everything.
template <class T>
bool ordered_less(const T& a, const T& b) {
  if constexpr (is_floating<T>) return a < b || (b != b && a == a);
  else return a < b;
}

template <class T>
Status nth_element(Call& call, In<T> x, const Tensor& n_tensor, bool reverse) {
  if (n_tensor.rank() != 0) return invalid("N must be scalar but has rank {}", n_tensor.rank());
  const std::int64_t n = as_integer(n_tensor);
  if (n < 0) return invalid("n must be non-negative but is {}", n);
  if (x.dims() < 1) return invalid("Input must be at least rank 1 but is rank {}", x.dims());
  const std::int64_t columns = x.dim(x.dims() - 1), rows = x.shape().elements(0, x.dims() - 1);
  if (columns <= n) return invalid("Input must have last dimension > n = {}", n);
  Shape shape = x.shape();
  shape.remove_dim(x.dims() - 1);
  T* out = call.alloc<T>(0, shape);
  std::vector<T> row(static_cast<std::size_t>(columns));
  const auto nth = row.begin() + (reverse ? columns - n - 1 : n);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(x.data() + r * columns, columns, row.begin());
    std::nth_element(row.begin(), nth, row.end(), ordered_less<T>);
    out[r] = *nth;
  }
  return absl::OkStatus();
}

}  // namespace

void add_nth_element(Registry& ops) {
  ops.add("NthElement", reals{},
          []<class T>(Call& call, In<T> x, Any n, Attr<"reverse", bool> reverse) { return nth_element<T>(call, x, n.tensor, reverse); });
  ops.cost({"NthElement"}, 10);
}

}  // namespace troupe
