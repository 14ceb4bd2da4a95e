// Complex numbers: their parts, their sizes and their conjugates.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <complex>

namespace troupe {
namespace {

template <class T, class F>
Status each_part(Call& call, const In<std::complex<T>>& x, const F& f) {
  T* out = call.alloc<T>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) out[i] = f(x[i]);
  return absl::OkStatus();
}

/// Ops on complex numbers that give real ones of the same width.
template <class T, class F>
void add_part_of(Registry& ops, const char* op, F f) {
  add_for(ops, op, {{"T", {dtype_of<std::complex<T>>::value}}, {"Tout", {dtype_of<T>::value}}},
          [f](Call& call, In<std::complex<T>> x) { return each_part<T>(call, x, f); });
}
template <class F>
void add_part(Registry& ops, const char* op, F f) {
  add_part_of<float>(ops, op, f);
  add_part_of<double>(ops, op, f);
}

template <class T>
void join_parts(Registry& ops) {
  using C = std::complex<T>;
  add_for(ops, "Complex", {{"T", {dtype_of<T>::value}}, {"Tout", {dtype_of<C>::value}}},
          [](Call& call, In<T> real, In<T> imag) { return detail::each_pair<T, C>(call, real, imag, [](T re, T im) { return C(re, im); }); });
}

}  // namespace

void add_complex(Registry& ops) {
  add_part(ops, "Real", [](const auto& x) { return x.real(); });
  add_part(ops, "Imag", [](const auto& x) { return x.imag(); });
  add_part(ops, "Angle", [](const auto& x) { return std::arg(x); });
  // The one whose kernels are there for any output, and then refuse it.
  ops.add({"ComplexAbs"}, complexes{}, []<class C>(Call& call, In<C> x, Attr<"Tout", DType> part) -> Status {
    using T = typename C::value_type;
    if (*part != dtype_of<T>::value) {
      const auto whole = name_of(dtype_of<C>::value);
      return invalid("Signature mismatch, have: {}->{} expected: {}->{}", whole, name_of(part), whole, name_of(dtype_of<T>::value));
    }
    return each_part<T>(call, x, [](const C& z) { return std::abs(z); });
  });
  each1(ops, {"Conj"}, complexes{}, [](const auto& x) { return std::conj(x); });
  join_parts<float>(ops);
  join_parts<double>(ops);
}

}  // namespace troupe
