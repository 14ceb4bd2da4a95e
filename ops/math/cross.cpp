// Cross products of vectors of three.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

namespace troupe {

void add_cross(Registry& ops) {
  ops.add({"Cross"}, reals{}, []<class T>(Call& call, In<T> a, In<T> b) -> Status {
    if (a.shape() != b.shape()) return invalid("Both inputs must be of same shape: {} vs. {}", a.shape(), b.shape());
    if (a.dims() == 0) return invalid("Input must be at least 1D{}", a.shape());
    if (a.dim(a.dims() - 1) != 3) return failed_precondition("Cross-products are only defined for 3-element vectors.");
    T* out = call.alloc<T>(0, a.shape());
    for (std::int64_t at = 0; at < a.size(); at += 3)
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t j = at + (i + 1) % 3, k = at + (i + 2) % 3;
        out[at + i] = wrap_sub(wrap_mul(a[j], b[k]), wrap_mul(a[k], b[j]));
      }
    return absl::OkStatus();
  });
}

}  // namespace troupe
