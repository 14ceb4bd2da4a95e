// Errors of element-wise kernels.
#include <troupe/ops/elementwise.hpp>

namespace troupe::detail {

Status incompatible_shapes(const Tensor& x, const Tensor& y) { return invalid("Incompatible shapes: {} vs. {}", x.shape(), y.shape()); }

}  // namespace troupe::detail
