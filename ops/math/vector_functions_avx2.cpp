// Vector functions for processors with AVX2. All of it is of this file alone: nothing compiled here may serve other processors.
#define Eigen EigenForAvx2
#include <troupe/ops/math/vector_functions_body.hpp>

namespace troupe::avx2 {

extern const FloatFunctions floats = float_functions;
extern const DoubleFunctions doubles = double_functions;

}  // namespace troupe::avx2
