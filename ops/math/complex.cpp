// Complex numbers: their parts, their sizes and their conjugates.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <complex>

namespace troupe {
namespace {

Status unmatched(const Call& call, DType whole, DType part) {
  return unimplemented("{} between {} and {} is not supported", call.node().op, name_of(whole), name_of(part));
}

/// Ops on complex numbers that give real ones.
template <class F>
void add_part(Registry& ops, const char* op, F f) {
  ops.add({op}, complexes{}, [f]<class C>(Call& call, In<C> x, Attr<"Tout", DType> part) -> Status {
    using T = typename C::value_type;
    if (*part != dtype_of<T>::value) return unmatched(call, dtype_of<C>::value, part);
    T* out = call.alloc<T>(0, x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) out[i] = f(x[i]);
    return absl::OkStatus();
  });
}

}  // namespace

void add_complex(Registry& ops) {
  add_part(ops, "Real", [](const auto& x) { return x.real(); });
  add_part(ops, "Imag", [](const auto& x) { return x.imag(); });
  add_part(ops, "Angle", [](const auto& x) { return std::arg(x); });
  add_part(ops, "ComplexAbs", [](const auto& x) { return std::abs(x); });
  each1(ops, {"Conj"}, complexes{}, [](const auto& x) { return std::conj(x); });
  ops.add({"Complex"}, full_floats{}, []<class T>(Call& call, In<T> real, In<T> imag, Attr<"Tout", DType> whole) -> Status {
    using C = std::complex<T>;
    if (*whole != dtype_of<C>::value) return unmatched(call, whole, dtype_of<T>::value);
    return detail::each_pair<T, C>(call, real, imag, [](T re, T im) { return C(re, im); });
  });
}

}  // namespace troupe
