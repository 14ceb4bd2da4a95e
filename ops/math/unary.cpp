// Element-wise functions of one input that need no mathematics library: signs, squares, rounding.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <cmath>

namespace troupe {
namespace {

template <class T>
T sign_of(const T& x) {
  if constexpr (is_complex<T>) return x == T(0) ? T(0) : x / std::abs(x);
  else if constexpr (is_floating<T>) return x > T(0) ? T(1) : x < T(0) ? T(-1) : x != x ? x : T(0);
  else return static_cast<T>((T(0) < x) - (x < T(0)));
}

/// Without the care that std::complex takes of infinities, which TensorFlow does not take either.
template <class T>
T inverse_of(const T& x) {
  if constexpr (is_complex<T>) return std::conj(x) / std::norm(x);
  else return T(1) / x;
}

}  // namespace

void add_unary(Registry& ops) {
  using fields = joined<floats, complexes>;
  each1(ops, {"Neg"}, joined<fields, signed_integers>{}, [](const auto& x) { return wrap_neg(x); });
  each1(ops, {"Sign"}, joined<fields, signed_integers>{}, [](const auto& x) { return sign_of(x); });
  each1(ops, {"Square"}, numbers{}, [](const auto& x) { return wrap_mul(x, x); });
  each1(ops, {"Inv", "Reciprocal"}, fields{}, [](const auto& x) { return inverse_of(x); });
  each1_computed(ops, {"Abs"}, floats{}, [](auto x) { return std::abs(x); });
  each1(ops, {"Abs"}, signed_integers{}, [](auto x) { return x < 0 ? wrap_neg(x) : x; });
  each1_computed(ops, {"Floor"}, floats{}, [](auto x) { return std::floor(x); });
  each1_computed(ops, {"Ceil"}, floats{}, [](auto x) { return std::ceil(x); });
  each1_computed(ops, {"Round"}, floats{}, [](auto x) { return std::nearbyint(x); });
  each1(ops, {"Round"}, indices{}, [](auto x) { return x; });
  each1(ops, {"Rint"}, full_floats{}, [](auto x) { return std::nearbyint(x); });
}

}  // namespace troupe
