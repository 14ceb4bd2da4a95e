// Reductions that add and multiply: Sum, Prod, Mean, EuclideanNorm.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/reducers.hpp>
#include <troupe/ops/math/reduction.hpp>

#include <cmath>

namespace troupe {
namespace {

constexpr auto as_is = [](const auto& x, std::int64_t) { return x; };

/// Means of integers are summed wide, so that they do not wrap round.
template <class T>
using Summed = std::conditional_t<!std::is_integral_v<T>, Computed<T>, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

constexpr auto mean_of = []<class A>(const A& sum, std::int64_t n) -> A {
  if constexpr (is_floating<A>) return sum / static_cast<A>(n);
  else if constexpr (is_complex<A>) return n == 0 ? A(0) : sum / static_cast<typename A::value_type>(n);
  else return n == 0 ? A(0) : sum / static_cast<A>(n);
};

constexpr auto root_of = []<class A>(const A& sum, std::int64_t) -> A {
  if constexpr (std::is_integral_v<A>) return static_cast<A>(std::sqrt(static_cast<double>(sum)));
  else return std::sqrt(sum);
};

}  // namespace

void add_sums(Registry& ops) {
  ops.add({"Sum"}, numbers{}, []<class T>(Call& call, In<T> x, Any axes, Attr<"keep_dims", bool> keep) {
    return reduce<SumReducer, Computed<T>>(call, x, axes.tensor, keep, as_is);
  });
  ops.add({"Prod"}, numbers{}, []<class T>(Call& call, In<T> x, Any axes, Attr<"keep_dims", bool> keep) {
    return reduce<ProductReducer, Computed<T>>(call, x, axes.tensor, keep, as_is);
  });
  ops.add({"Mean"}, numbers{}, []<class T>(Call& call, In<T> x, Any axes, Attr<"keep_dims", bool> keep) {
    return reduce<SumReducer, Summed<T>>(call, x, axes.tensor, keep, mean_of);
  });
  ops.add({"EuclideanNorm"}, numbers{}, []<class T>(Call& call, In<T> x, Any axes, Attr<"keep_dims", bool> keep) {
    return reduce<SquareReducer, Computed<T>>(call, x, axes.tensor, keep, root_of);
  });
}

}  // namespace troupe
