// Vector functions for all processors, and which ones this processor gets.
#include <troupe/ops/math/vector_functions_body.hpp>

namespace troupe {

namespace avx2 {
extern const FloatFunctions floats;
extern const DoubleFunctions doubles;
}  // namespace avx2

template <>
const FloatFunctions& vector_functions<float>() {
  return __builtin_cpu_supports("avx2") ? avx2::floats : float_functions;
}
template <>
const DoubleFunctions& vector_functions<double>() {
  return __builtin_cpu_supports("avx2") ? avx2::doubles : double_functions;
}

}  // namespace troupe
