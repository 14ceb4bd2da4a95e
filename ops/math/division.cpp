// Division and remainders: exact, truncating, flooring, and without NaN.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <cmath>

namespace troupe {
namespace {

/// x / y of integers towards zero; the one quotient that does not fit wraps round.
template <class T>
T quotient(T x, T y, bool& failed) {
  if (y == 0) {
    failed = true;
    return 0;
  }
  if constexpr (std::is_signed_v<T>)
    if (y == T(-1)) return wrap_neg(x);
  return static_cast<T>(x / y);
}

template <class T>
T remainder(T x, T y, bool& failed) {
  if (y == 0) {
    failed = true;
    return 0;
  }
  if constexpr (std::is_signed_v<T>)
    if (y == T(-1)) return 0;
  return static_cast<T>(x % y);
}

template <class T>
T floor_quotient(T x, T y, bool& failed) {
  const T q = quotient(x, y, failed);
  if constexpr (std::is_signed_v<T>)
    if (!failed && (x < 0) != (y < 0) && wrap_mul(q, y) != x) return static_cast<T>(q - 1);
  return q;
}

template <class T>
T floor_remainder(T x, T y, bool& failed) {
  const T r = remainder(x, y, failed);
  if constexpr (std::is_signed_v<T>)
    if (!failed && r != 0 && (r < 0) != (y < 0)) return static_cast<T>(r + y);
  return r;
}

template <class T>
T floor_fmod(T x, T y) {
  const T r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

void add_integer_division(Registry& ops) {
  const Status zero = invalid("Integer division by zero");
  // TensorFlow's text for these two, whatever it says.
  const Status odd_zero = internal("Unexpected error in binary operator (only integer div and mod should have errors)");
  constexpr auto divide = [](auto x, auto y, bool& failed) { return quotient(x, y, failed); };
  constexpr auto modulo = [](auto x, auto y, bool& failed) { return remainder(x, y, failed); };
  each2_or(ops, {"Div"}, integers{}, zero, divide);
  each2_or(ops, {"TruncateDiv"}, integers{}, odd_zero, divide);
  each2_or(ops, {"FloorDiv"}, integers{}, zero, [](auto x, auto y, bool& failed) { return floor_quotient(x, y, failed); });
  each2_or(ops, {"FloorMod"}, integers{}, zero, [](auto x, auto y, bool& failed) { return floor_remainder(x, y, failed); });
  each2_or(ops, {"Mod"}, indices{}, zero, modulo);
  each2_or(ops, {"TruncateMod"}, indices{}, odd_zero, modulo);
}

}  // namespace

void add_division(Registry& ops) {
  using fields = joined<floats, complexes>;
  add_integer_division(ops);
  each2(ops, {"Div", "RealDiv"}, fields{}, [](const auto& x, const auto& y) { return x / y; });
  each2(ops, {"TruncateDiv"}, floats{}, []<class T>(T x, T y) { return std::trunc(static_cast<Computed<T>>(x / y)); });
  each2(ops, {"FloorDiv"}, floats{}, []<class T>(T x, T y) { return std::floor(static_cast<Computed<T>>(x / y)); });
  each2_computed(ops, {"FloorMod"}, floats{}, [](auto x, auto y) { return floor_fmod(x, y); });
  each2(ops, {"Mod", "TruncateMod"}, full_floats{}, [](auto x, auto y) { return std::fmod(x, y); });
  each2(ops, {"DivNoNan"}, fields{}, []<class T>(const T& x, const T& y) { return y == T(0) ? T(0) : x / y; });
  each2(ops, {"MulNoNan"}, fields{}, []<class T>(const T& x, const T& y) { return y == T(0) ? T(0) : x * y; });
  each2(ops, {"Xdivy"}, fields{}, []<class T>(const T& x, const T& y) { return x == T(0) ? T(0) : x / y; });
}

}  // namespace troupe
