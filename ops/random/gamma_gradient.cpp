// The derivative of a gamma number by the distribution's parameter.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <unsupported/Eigen/SpecialFunctions>

namespace troupe {

void add_gamma_gradient(Registry& ops) {
  each2(ops, {"RandomGammaGrad"}, full_floats{}, [](auto alpha, auto sample) { return Eigen::numext::gamma_sample_der_alpha(alpha, sample); });
}

}  // namespace troupe
