// The vector functions themselves: included once for each set of instructions, by a file whose Eigen goes by another name.
#include <troupe/ops/math/vector_functions.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

namespace troupe {
namespace {

/// In whole vectors only, what is left too: numbers come out the same wherever they stand.
template <class T, class F>
inline void in_vectors(const T* x, T* out, std::int64_t n, F f) {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  constexpr auto size = static_cast<std::int64_t>(sizeof(Packet) / sizeof(T));
  std::int64_t i = 0;
  for (; i + size <= n; i += size) Eigen::internal::pstoreu(out + i, f(Eigen::internal::ploadu<Packet>(x + i)));
  if (i == n) return;
  T rest[size] = {};
  for (std::int64_t k = i; k < n; ++k) rest[k - i] = x[k];
  Eigen::internal::pstoreu(rest, f(Eigen::internal::ploadu<Packet>(rest)));
  for (std::int64_t k = i; k < n; ++k) out[k] = rest[k - i];
}

template <class Packet>
inline Packet logistic_of(const Packet& x) {
  using namespace Eigen::internal;
  const Packet one = pset1<Packet>(1);
  return pdiv(one, padd(one, pexp(pnegate(x))));
}

constexpr FloatFunctions float_functions{
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::pexp(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::pexpm1(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::plog(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::plog1p(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::psin(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::pcos(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::ptanh(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return logistic_of(v); }); },
    [](const float* x, float* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::perf(v); }); },
};

constexpr DoubleFunctions double_functions{
    [](const double* x, double* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::pexp(v); }); },
    [](const double* x, double* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return Eigen::internal::plog(v); }); },
    [](const double* x, double* out, std::int64_t n) { in_vectors(x, out, n, [](const auto& v) { return logistic_of(v); }); },
};

}  // namespace
}  // namespace troupe
