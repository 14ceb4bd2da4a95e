// Reductions that choose: Max, Min, All, Any.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/reducers.hpp>
#include <troupe/ops/math/reduction.hpp>

namespace troupe {
namespace {

constexpr auto as_is = [](const auto& x, std::int64_t) { return x; };

}  // namespace

void add_extreme_reductions(Registry& ops) {
  ops.add({"Max"}, reals{}, []<class T>(Call& call, In<T> x, Any axes, Attr<"keep_dims", bool> keep) {
    return reduce<MaxReducer, T>(call, x, axes.tensor, keep, as_is);
  });
  ops.add({"Min"}, reals{}, []<class T>(Call& call, In<T> x, Any axes, Attr<"keep_dims", bool> keep) {
    return reduce<MinReducer, T>(call, x, axes.tensor, keep, as_is);
  });
  ops.add("All",
          [](Call& call, In<bool> x, Any axes, Attr<"keep_dims", bool> keep) { return reduce<MinReducer, bool>(call, x, axes.tensor, keep, as_is); });
  ops.add("Any",
          [](Call& call, In<bool> x, Any axes, Attr<"keep_dims", bool> keep) { return reduce<MaxReducer, bool>(call, x, axes.tensor, keep, as_is); });
}

}  // namespace troupe
