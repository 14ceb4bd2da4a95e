// Trigonometric and hyperbolic functions, their inverses, and the logistic function.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/vector_loops.hpp>

#include <cmath>
#include <complex>

namespace troupe {
namespace {

using fields = joined<floats, complexes>;
using narrow = types<half, bfloat16, float>;
using wide = joined<types<double>, complexes>;

template <class T>
T logistic(const T& x) {
  // TensorFlow means to single out infinities, and has zeros instead.
  const T e = std::exp(x);
  return e == T(0) ? T(1) : e / (T(1) + e);
}

void add_circular(Registry& ops) {
  each_vector(ops, "Sin", narrow{}, vector_functions<float>().sin);
  each_vector(ops, "Cos", narrow{}, vector_functions<float>().cos);
  each1(ops, {"Sin"}, wide{}, [](const auto& x) { return std::sin(x); });
  each1(ops, {"Cos"}, wide{}, [](const auto& x) { return std::cos(x); });
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
  each_vector(ops, "Tanh", narrow{}, vector_functions<float>().tanh);
  each1(ops, {"Tanh"}, wide{}, [](const auto& x) { return std::tanh(x); });
}

}  // namespace

void add_trigonometry(Registry& ops) {
  add_circular(ops);
  add_hyperbolic(ops);
  each_vector(ops, "Sigmoid", narrow{}, vector_functions<float>().logistic);
  each_vector(ops, "Sigmoid", types<double>{}, vector_functions<double>().logistic);
  each1(ops, {"Sigmoid"}, complexes{}, [](const auto& x) { return logistic(x); });
}

}  // namespace troupe
