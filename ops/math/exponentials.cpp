// Exponentials, logarithms, roots and powers.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/vector_loops.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <cmath>

namespace troupe {
namespace {

using fields = joined<floats, complexes>;
using narrow = types<half, bfloat16, float>;

/// exp(x) - 1 without cancellation near zero.
template <class T>
T exp_minus_one(const T& x) {
  if constexpr (is_complex<T>) {
    using R = typename T::value_type;
    const R half_sine = std::sin(x.imag() / 2);
    const R real = std::expm1(x.real()) * std::cos(x.imag()) - 2 * half_sine * half_sine;
    return T(real, std::exp(x.real()) * std::sin(x.imag()));
  } else {
    return std::expm1(x);
  }
}

/// log(1 + x) without cancellation near zero.
template <class T>
T log_one_plus(const T& x) {
  if constexpr (is_complex<T>) {
    const T u = T(1) + x;
    if (u == T(1)) return x;
    return std::log(u) * x / (u - T(1));
  } else {
    return std::log1p(x);
  }
}

template <class T>
T integer_power(T base, T exponent, bool& failed) {
  if (exponent < 0) {
    failed = true;
    return 0;
  }
  T result = 1;
  for (; exponent > 0; exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & 1) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}

void add_powers(Registry& ops) {
  each2_or(ops, {"Pow"}, signed_integers{}, invalid("Integers to negative integer powers are not allowed"),
           [](auto x, auto y, bool& failed) { return integer_power(x, y, failed); });
  each2_computed(ops, {"Pow"}, fields{}, [](const auto& x, const auto& y) { return std::pow(x, y); });
  each2_computed(ops, {"Xlogy"}, fields{}, []<class T>(const T& x, const T& y) { return x == T(0) ? T(0) : x * std::log(y); });
  each2_computed(ops, {"Xlog1py"}, fields{}, []<class T>(const T& x, const T& y) { return x == T(0) ? T(0) : x * log_one_plus(y); });
}

}  // namespace

void add_exponentials(Registry& ops) {
  each_vector(ops, "Exp", narrow{}, vector_functions<float>().exp);
  each_vector(ops, "Exp", types<double>{}, vector_functions<double>().exp);
  each_vector(ops, "Log", narrow{}, vector_functions<float>().log);
  each_vector(ops, "Log", types<double>{}, vector_functions<double>().log);
  each_vector(ops, "Expm1", narrow{}, vector_functions<float>().expm1);
  each_vector(ops, "Log1p", narrow{}, vector_functions<float>().log1p);
  each1(ops, {"Exp"}, complexes{}, [](const auto& x) { return std::exp(x); });
  each1(ops, {"Log"}, complexes{}, [](const auto& x) { return std::log(x); });
  each1_computed(ops, {"Sqrt"}, fields{}, [](const auto& x) { return std::sqrt(x); });
  each1_computed(ops, {"Rsqrt"}, fields{}, []<class T>(const T& x) { return T(1) / std::sqrt(x); });
  each1(ops, {"Expm1"}, joined<types<double>, complexes>{}, [](const auto& x) { return exp_minus_one(x); });
  each1(ops, {"Log1p"}, joined<types<double>, complexes>{}, [](const auto& x) { return log_one_plus(x); });
  add_powers(ops);
}

}  // namespace troupe
