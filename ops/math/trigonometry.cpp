// Trigonometric and hyperbolic functions, their inverses, and the logistic function.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <cmath>
#include <complex>

namespace troupe {
namespace {

using fields = joined<floats, complexes>;

template <class T>
T logistic(const T& x) {
  if constexpr (is_complex<T>) {
    // TensorFlow means to single out infinities, and has zeros instead.
    const T e = std::exp(x);
    return e == T(0) ? T(1) : e / (T(1) + e);
  } else {
    return T(1) / (T(1) + std::exp(-x));
  }
}

void add_circular(Registry& ops) {
  each1_computed(ops, {"Sin"}, fields{}, [](const auto& x) { return std::sin(x); });
  each1_computed(ops, {"Cos"}, fields{}, [](const auto& x) { return std::cos(x); });
  each1_computed(ops, {"Tan"}, fields{}, [](const auto& x) { return std::tan(x); });
  each1_computed(ops, {"Asin"}, fields{}, [](const auto& x) { return std::asin(x); });
  each1_computed(ops, {"Acos"}, fields{}, [](const auto& x) { return std::acos(x); });
  each1_computed(ops, {"Atan"}, fields{}, [](const auto& x) { return std::atan(x); });
  each2_computed(ops, {"Atan2"}, floats{}, [](auto y, auto x) { return std::atan2(y, x); });
  each2(ops, {"NextAfter"}, full_floats{}, [](auto x, auto y) { return std::nextafter(x, y); });
}

void add_hyperbolic(Registry& ops) {
  each1_computed(ops, {"Sinh"}, fields{}, [](const auto& x) { return std::sinh(x); });
  each1_computed(ops, {"Cosh"}, fields{}, [](const auto& x) { return std::cosh(x); });
  each1_computed(ops, {"Asinh"}, fields{}, [](const auto& x) { return std::asinh(x); });
  each1_computed(ops, {"Acosh"}, fields{}, [](const auto& x) { return std::acosh(x); });
  each1_computed(ops, {"Atanh"}, fields{}, [](const auto& x) { return std::atanh(x); });
  map1(ops, "Tanh", types<float>{}, [](const auto& x) { return x.tanh(); });
  each1_computed(ops, {"Tanh"}, types<half, bfloat16, double, complex64, complex128>{}, [](const auto& x) { return std::tanh(x); });
}

}  // namespace

void add_trigonometry(Registry& ops) {
  add_circular(ops);
  add_hyperbolic(ops);
  map1(ops, "Sigmoid", full_floats{}, [](const auto& x) { return (1 + (-x).exp()).inverse(); });
  each1_computed(ops, {"Sigmoid"}, types<half, bfloat16, complex64, complex128>{}, [](const auto& x) { return logistic(x); });
}

}  // namespace troupe
