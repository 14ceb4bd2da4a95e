// Comparisons with broadcasting.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <cmath>

namespace troupe {
namespace {

template <class T>
Status approximately_equal(Call& call, const In<T>& x, const In<T>& y, float tolerance) {
  if (x.shape() != y.shape()) return invalid("x and y must be of the same shape. x shape: {}. y shape: {}", x.shape(), y.shape());
  bool* out = call.alloc<bool>(0, x.shape());
  const T limit = static_cast<T>(tolerance);
  for (std::int64_t i = 0; i < x.size(); ++i) out[i] = std::abs(x[i] - y[i]) < limit;
  return absl::OkStatus();
}

}  // namespace

void add_comparisons(Registry& ops) {
  each2<bool>(ops, {"Less"}, reals{}, [](const auto& x, const auto& y) { return x < y; });
  each2<bool>(ops, {"LessEqual"}, reals{}, [](const auto& x, const auto& y) { return x <= y; });
  each2<bool>(ops, {"Greater"}, reals{}, [](const auto& x, const auto& y) { return y < x; });
  each2<bool>(ops, {"GreaterEqual"}, reals{}, [](const auto& x, const auto& y) { return y <= x; });
  ops.add({"ApproximateEqual"}, full_floats{},
          []<class T>(Call& call, In<T> x, In<T> y, Attr<"tolerance", float> tolerance) { return approximately_equal(call, x, y, tolerance); });
}

}  // namespace troupe
