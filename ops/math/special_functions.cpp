// Kernels of the special functions.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/special.hpp>
#include <troupe/ops/math/vector_loops.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

using with_half = types<half, float, double>;

/// Functions of one double; narrower types go through it.
template <class... Ts>
void add_special(Registry& ops, const char* op, types<Ts...> ts, double (*f)(double)) {
  each1(ops, {op}, ts, [f]<class T>(const T& x) { return static_cast<T>(f(static_cast<double>(x))); });
}
void add_special2(Registry& ops, const char* op, double (*f)(double, double)) {
  each2(ops, {op}, full_floats{}, [f]<class T>(const T& x, const T& y) { return static_cast<T>(f(x, y)); });
}

/// Below zero the functions of the second kind have no value; their limit at zero stands for it.
double bessel_y(double (*y)(double), double x) {
  if (std::isinf(x) && x > 0) return std::numeric_limits<double>::quiet_NaN();
  return x <= 0 ? -std::numeric_limits<double>::infinity() : y(x);
}

void bessel_functions(Registry& ops) {
  using namespace special;
  add_special(ops, "BesselI0e", with_half{}, bessel_i0e);
  add_special(ops, "BesselI1e", with_half{}, bessel_i1e);
  add_special(ops, "BesselK0e", with_half{}, bessel_k0e);
  add_special(ops, "BesselK1e", with_half{}, bessel_k1e);
  add_special(ops, "BesselI0", with_half{}, [](double x) { return std::exp(std::abs(x)) * bessel_i0e(x); });
  add_special(ops, "BesselI1", with_half{}, [](double x) { return std::exp(std::abs(x)) * bessel_i1e(x); });
  add_special(ops, "BesselK0", with_half{}, [](double x) { return x <= 0 ? bessel_k0e(x) : std::exp(-x) * bessel_k0e(x); });
  add_special(ops, "BesselK1", with_half{}, [](double x) { return x <= 0 ? bessel_k1e(x) : std::exp(-x) * bessel_k1e(x); });
  add_special(ops, "BesselJ0", with_half{}, [](double x) { return std::isinf(x) ? std::numeric_limits<double>::quiet_NaN() : ::j0(x); });
  add_special(ops, "BesselJ1", with_half{}, [](double x) { return std::isinf(x) ? std::numeric_limits<double>::quiet_NaN() : ::j1(x); });
  add_special(ops, "BesselY0", with_half{}, [](double x) { return bessel_y(::y0, x); });
  each1(ops, {"BesselY1"}, with_half{}, []<class T>(const T& x) {
    // The limit at zero is known in double only.
    if (!std::is_same_v<T, double> && x == T(0)) return std::numeric_limits<T>::quiet_NaN();
    return static_cast<T>(bessel_y(::y1, static_cast<double>(x)));
  });
}

/// Tensors of one shape, or scalars that are repeated.
template <class T>
Status betainc(Call& call, const In<T>& a, const In<T>& b, const In<T>& x) {
  auto differ = [](const In<T>& m, const In<T>& n) { return m.dims() > 0 && n.dims() > 0 && m.shape() != n.shape(); };
  if (differ(a, b)) return invalid("Shapes of a and b are inconsistent: {} vs. {}", a.shape(), b.shape());
  if (differ(a, x)) return invalid("Shapes of a and x are inconsistent: {} vs. {}", a.shape(), x.shape());
  if (differ(b, x)) return invalid("Shapes of b and x are inconsistent: {} vs. {}", b.shape(), x.shape());
  const Shape& shape = a.dims() > 0 ? a.shape() : b.dims() > 0 ? b.shape() : x.shape();
  auto at = [](const In<T>& m, std::int64_t i) { return static_cast<double>(m.dims() > 0 ? m[i] : m[0]); };
  T* out = call.alloc<T>(0, shape);
  for (std::int64_t i = 0; i < shape.elements(); ++i) out[i] = static_cast<T>(special::betainc(at(a, i), at(b, i), at(x, i)));
  return absl::OkStatus();
}

}  // namespace

void add_special_functions(Registry& ops) {
  using namespace special;
  each_vector(ops, "Erf", types<half, bfloat16, float>{}, vector_functions<float>().erf);
  each1(ops, {"Erf"}, types<double>{}, [](auto x) { return std::erf(x); });
  each1_computed(ops, {"Erfc"}, floats{}, [](auto x) { return std::erfc(x); });
  add_special(ops, "Lgamma", with_half{}, log_gamma);
  add_special(ops, "Digamma", with_half{}, digamma);
  add_special(ops, "Erfinv", full_floats{}, erfinv);
  add_special(ops, "Ndtri", full_floats{}, ndtri);
  add_special2(ops, "Polygamma", polygamma);
  add_special2(ops, "Zeta", zeta);
  add_special2(ops, "Igamma", igamma);
  add_special2(ops, "Igammac", igammac);
  add_special2(ops, "IgammaGradA", igamma_grad_a);
  ops.add({"Betainc"}, full_floats{}, []<class T>(Call& call, In<T> a, In<T> b, In<T> x) { return betainc(call, a, b, x); });
  bessel_functions(ops);
  add_special(ops, "Dawsn", full_floats{}, dawson);
  add_special(ops, "Expint", full_floats{}, exponential_integral);
  add_special(ops, "FresnelSin", full_floats{}, [](double x) { return fresnel(x).sine; });
  add_special(ops, "FresnelCos", full_floats{}, [](double x) { return fresnel(x).cosine; });
  add_special(ops, "Spence", full_floats{}, spence);
}

}  // namespace troupe
