// Functions of whole arrays, in the widest vectors that the processor has.
#pragma once

#include <cstdint>
#include <type_traits>

namespace troupe {

/// out[i] = f(x[i]); out may be x. Every set of instructions gives the same bits, wherever in an array a value stands.
template <class T>
using VectorFunction = void (*)(const T* x, T* out, std::int64_t n);

struct FloatFunctions {
  VectorFunction<float> exp, expm1, log, log1p, sin, cos, tanh, logistic, erf;
};
struct DoubleFunctions {
  VectorFunction<double> exp, log, logistic;
};
template <class T>
using VectorFunctions = std::conditional_t<std::is_same_v<T, double>, DoubleFunctions, FloatFunctions>;

/// Those of this processor, for double where T is that, for float otherwise.
template <class T>
const VectorFunctions<T>& vector_functions();

}  // namespace troupe
